/** Takes the bytes of an event stream, and calls `onData` with the data of each event. Comments are skipped. */
export function createSseParser(onData: (data: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let text = '';
  return (bytes) => {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      for (const line of event.split('\n')) if (line.startsWith('data: ')) onData(line.slice(6));
    }
  };
}
