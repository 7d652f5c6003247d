// llama.cpp on GGUF files: node llama_cpp.mjs PACKAGES, one line of JSON with all works on stdin, one with their results on stdout.
// A work: {model, text, tokens, more}. Its result: the text's tokens, the file's context length, the logits after each of `tokens`, and `more`
// tokens that follow, each the likeliest.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const {getLlama} = await import(pathToFileURL(`${process.argv[2]}/node_modules/node-llama-cpp/dist/index.js`));
const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});

async function logitsAfter(sequence, tokens) {
  const asked = tokens.map((token) => [token, {generateNext: {logits: true}}]);
  const results = await sequence.controlledEvaluate(asked);
  return results.map(({next}) => {
    const row = new Array(next.logits.size);
    for (const [token, value] of next.logits) row[token] = value;
    return row;
  });
}

async function run(work) {
  const model = await llama.loadModel({modelPath: work.model, gpuLayers: 0});
  const context = await model.createContext({contextSize: Math.min(256, model.trainContextSize), threads: 1});
  const sequence = context.getSequence();
  const logits = await logitsAfter(sequence, work.tokens);
  const greedy = [];
  let last = logits.at(-1);
  while (greedy.length < work.more) {
    greedy.push(last.indexOf(Math.max(...last)));
    [last] = await logitsAfter(sequence, [greedy.at(-1)]);
  }
  const result = {tokens: model.tokenize(work.text), trained: model.trainContextSize, logits, greedy};
  await model.dispose();
  return result;
}

const results = [];
for (const work of JSON.parse(readFileSync(0, "utf8"))) results.push(await run(work));
process.stdout.write(JSON.stringify(results) + "\n", () => process.exit(0)); // a pipe takes it in pieces
