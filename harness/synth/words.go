package synth

import "strings"

// The words that corpora are made of. Their order is part of what a seed means.
var (
	adjectives = strings.Fields(`able amber ancient brave bright broad calm clever cold copper crisp curious
		dark deep distant dry eager early empty even faint fair fast fierce final firm fresh gentle glad golden
		grand green grey happy heavy hollow honest huge humble idle icy keen kind large late lazy light little
		lively lonely long loud lucky mellow mild modern narrow neat noble odd old open pale patient plain polite
		proud quick quiet rapid rare ready rich rough round rusty sharp short shy silent silver simple slow small
		smooth solid spare steady still strange strong sudden sunny sweet swift tall tame tender thin tidy tiny
		tired tough vast warm weak wide wild wise wooden young`)
	nouns = strings.Fields(`anchor apple arrow badger barrel basket beacon bell boat bottle branch bridge brook
		bucket button cabin camel candle canvas carpet castle cellar chair chapel chest circle cliff cloud coat
		comet copper corner cotton cradle crane creek crown curtain desert donkey drum eagle engine falcon feather
		fence ferry fiddle field finch forest fountain fox garden gate glacier glove hammer harbor harvest hedge
		heron hill honey horse island jacket kettle kitchen ladder lake lantern lemon lizard lobster magnet maple
		marble market meadow mirror mountain needle oak ocean orchard otter oven owl paddle palace parrot pasture
		pebble pencil pigeon pillow pine planet pocket pony quarry rabbit raven river robin rocket saddle sailor
		salmon shadow shepherd shore sparrow spoon spring stable station stone stove summit table temple thicket
		thunder ticket tiger tower trail tunnel turtle valley village violin wagon walnut whale willow window winter`)
	verbs = strings.Fields(`admired borrowed carried chased circled collected counted covered crossed described
		discovered drew followed forgot guarded hid ignored imagined left lifted lost mended missed moved noticed
		owned painted passed praised pulled pushed reached remembered repaired replaced saw sold sought studied
		touched trusted watched`)
	openings = strings.Split(`After the rain|All summer|As ever|At dawn|At first|At noon|Before long|By chance|By evening|During the fair|Every spring|For a while|In the end|In those days|Later on|Long ago|Many years later|Most of the time|Near the coast|Not far away|Now and then|On the way back|Once|One morning|Some days later|Sooner or later|That autumn|The next day|Twice a year|Without a word`, "|")
	endings  = strings.Split(`across the water|against all advice|and said nothing|as everyone expected|at the edge of town|before the others came|behind the mill|beside the old road|by the light of the moon|for no good reason|from the upper floor|in spite of the cold|in the middle of the night|on the other side|once more|out of habit|over the hills|to the end|under an open sky|until the bells rang|while it was snowing|with great care|with some delay|without looking back`, "|")
	noise    = strings.Split(`The road is long.|The lamp is lit.|The door is shut.|The wind is low.|Here they come.|There they go.|Round and round again.`, "|")
	services = strings.Fields(`api-gateway audit-log auth-service billing-worker blob-store build-cache cart-service
		config-server event-bus feature-flags geo-index image-resizer invoice-job job-queue log-shipper mail-relay
		metrics-agent order-service payment-hook profile-service rate-limiter report-job search-index session-store
		shard-router sms-relay tax-service token-issuer upload-proxy user-service web-frontend webhook-sender`)
	settings = strings.Split(`batch size|cache lifetime|connection limit|heap limit|idle timeout|listen port|log retention|max payload|memory limit|pool size|queue depth|rate limit|request timeout|retry limit|scan interval|shard count|thread count|warmup time`, "|")
)

// remarks are what the roles of a session say: %[1]s a service, %[2]s a thing, %[3]d a number.
var remarks = map[string][]string{
	"system":    strings.Split(`You are a coding agent that works on %[1]s.|Read the files before you change them, %[1]s first of all.|Ask before you delete a %[2]s.|Keep the tests of %[1]s green.|Write short messages, no more than %[3]d characters.`, "|"),
	"user":      strings.Split(`Please look at %[1]s again.|The %[2]s test of %[1]s is flaky.|Why does %[1]s need a %[2]s at all?|I think that line %[3]d is wrong.|Leave %[1]s as it is for now.|Can we rename the %[2]s helper?|Run the tests of %[1]s once more.`, "|"),
	"assistant": strings.Split(`I will read the %[2]s module of %[1]s first.|The cause is on line %[3]d of the %[2]s handler.|I changed the %[2]s helper and its tests.|All tests of %[1]s pass now.|Next I will look for other users of the %[2]s type.|This needs no change in %[1]s.|I would rather split the %[2]s function.`, "|"),
	"tool":      strings.Split(`ok %[1]s/%[2]s 0.%[3]ds.|--- FAIL: Test_%[2]s (0.%[3]ds).|%[1]s/%[2]s.go:%[3]d: unused variable.|INFO %[1]s: %[2]s loaded in %[3]d ms.|WARN %[1]s: %[2]s is slow, %[3]d ms.|diff --git a/%[1]s/%[2]s.go b/%[1]s/%[2]s.go.|%[3]d files read.`, "|"),
}
