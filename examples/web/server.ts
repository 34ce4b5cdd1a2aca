import { createClient } from '@halyard/client';
import { createFlagsHandler } from '@halyard/client/handler';
import page from './index.html';

const client = createClient({
  apiKey: process.env.HALYARD_KEY ?? '',
  environment: 'development',
  baseUrl: 'http://127.0.0.1:7070',
});
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 3000),
  idleTimeout: 0, // streams stay open
  routes: { '/': page, '/flags/*': createFlagsHandler({ client }) },
});

console.log(server.url.href);
