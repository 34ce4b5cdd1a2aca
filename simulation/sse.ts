/** Takes the bytes of an event stream, and calls `onEvent` with the data of each event and its name. Comments are skipped. */
export function createSseParser(
  onEvent: (data: string, name: string | undefined) => void,
): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let text = '';
  return (bytes) => {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      let name: string | undefined;
      for (const line of event.split('\n')) {
        if (line.startsWith('event: ')) name = line.slice(7);
        if (line.startsWith('data: ')) onEvent(line.slice(6), name);
      }
    }
  };
}
