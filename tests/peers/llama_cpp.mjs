// llama.cpp on a GGUF file: node llama_cpp.mjs PACKAGES, one line of JSON with the work on stdin, one with the results on stdout.
// Work: {model, text, tokens, more}. Results: the text's tokens, the logits after each of `tokens`, and `more` tokens that follow, each the likeliest.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const {getLlama} = await import(pathToFileURL(`${process.argv[2]}/node_modules/node-llama-cpp/dist/index.js`));
const work = JSON.parse(readFileSync(0, "utf8"));
const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});
const model = await llama.loadModel({modelPath: work.model, gpuLayers: 0});
const context = await model.createContext({contextSize: Math.min(256, model.trainContextSize), flashAttention: false});
const sequence = context.getSequence();

async function logitsAfter(tokens) {
  const asked = tokens.map((token) => [token, {generateNext: {logits: true}}]);
  const results = await sequence.controlledEvaluate(asked);
  return results.map(({next}) => {
    const row = new Array(next.logits.size);
    for (const [token, value] of next.logits) row[token] = value;
    return row;
  });
}

const logits = await logitsAfter(work.tokens);
const greedy = [];
let last = logits.at(-1);
while (greedy.length < work.more) {
  greedy.push(last.indexOf(Math.max(...last)));
  [last] = await logitsAfter([greedy.at(-1)]);
}
console.log(JSON.stringify({tokens: model.tokenize(work.text), trained: model.trainContextSize, logits, greedy}));
process.exit(0);
