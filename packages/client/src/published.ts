/** Reads environments that a node has published as files, behind any CDN. */
export {
  createClientWithFallback,
  createPublishedClient,
  type FallbackOptions,
  type PublishedClient,
  type PublishedOptions,
} from './published/client.ts';
