/** What happens to the open streams of a removed record. `streams` is `undefined` if their number is unknown. */
export function closedStreamsText(streams: number | undefined): string {
  if (streams === undefined) return 'Its open streams are closed.';
  if (streams === 0) return 'It has no open streams.';
  return streams === 1 ? '1 open stream is closed.' : `${streams} open streams are closed.`;
}
