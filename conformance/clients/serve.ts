/** `bun conformance/clients/serve.ts`: the server of broken behaviors, which every client must stand. README.md explains it. */
import { ContractServer } from './contract-server.ts';

const server = new ContractServer();
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);

// The process that starts it holds its input open, and closes it to end the server.
process.stdin.resume();
process.stdin.on('end', () => void server.close().then(() => process.exit(0)));
