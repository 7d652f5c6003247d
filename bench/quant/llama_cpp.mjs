// Milliseconds a token of llama.cpp (the node-llama-cpp package) decoding greedily from a GGUF file:
// node llama_cpp.mjs MODEL.gguf THREADS TOKENS, run where that package is installed. One line of JSON.
import {getLlama} from "node-llama-cpp";

const [, , path, threads, count] = process.argv;
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: Number(threads)});
const model = await llama.loadModel({modelPath: path, gpuLayers: 0});
const context = await model.createContext({contextSize: 512, threads: Number(threads)});
const times = [];
let last = performance.now();
for await (const token of context.getSequence().evaluate([1, 2, 3, 4], {temperature: 0, yieldEogToken: true})) {
  const now = performance.now();
  times.push(now - last);
  last = now;
  if (times.length > Number(count)) break;
}
times.shift(); // the prompt
times.sort((a, b) => a - b);
console.log(JSON.stringify({peer: "llama.cpp", ms: times[times.length >> 1], best_ms: times[0], threads: Number(threads)}));
process.exit(0);
