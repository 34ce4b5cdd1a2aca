/**
 * A loopback port that is free now, and stays free for a server that stops and comes back: it lies below the ports that systems
 * give to outgoing connections.
 */
export function lastingPort(): number {
  for (let attempts = 1; ; attempts++) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true);
      return port;
    } catch (error) {
      // Taken: try another.
      if (attempts === 100) throw error;
    }
  }
}
