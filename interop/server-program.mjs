import { createInterface } from 'node:readline';
import { openFeatureSteps } from './openfeature-steps.mjs';

/**
 * Answers steps on standard input and output with OpenFeature's SDK for servers. `connect` sets a new provider of the
 * `version` that is tried. `watch`, if it can, calls a function with a flag as it is and after each change.
 */
export async function runServerProgram({ OpenFeature, version, connect, watch }) {
  OpenFeature.setLogger({ error() {}, warn() {}, info() {}, debug() {} });
  const client = OpenFeature.getClient();
  const steps = openFeatureSteps(connect, (method, ...read) => client[method](...read));
  const answer = (data) => process.stdout.write(`${JSON.stringify(data)}\n`);
  const runtime = process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`;
  answer({ provider: version, runtime });
  for await (const line of createInterface({ input: process.stdin })) {
    const step = JSON.parse(line);
    if (step.do === 'watch') watch(step.key, answer);
    else if (step.do === 'memory') answer({ bytes: memoryInUse() });
    else answer(await steps[step.do](step));
  }
  await OpenFeature.close();
}

/** The bytes in use on the heap. Only Bun's collector can be asked for. */
function memoryInUse() {
  globalThis.Bun?.gc(true);
  return process.memoryUsage().heapUsed;
}
