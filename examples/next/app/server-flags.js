import { createClient } from '@halyard/client';

// Pages and routes have their own instances of this module, but share the client and its stream.
globalThis.flags ??= createClient({
  apiKey: process.env.HALYARD_KEY ?? '',
  environment: 'development',
  baseUrl: 'http://127.0.0.1:7070',
});

export const { flags } = globalThis;
