/** Limit of one event in memory. No chat event comes near it. */
const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Incremental reader: returns the `data` of each event that the pushed bytes complete. */
export interface EventStreamReader {
  /** Throws `RangeError` if an event is too long. */
  push(bytes: Uint8Array): string[];
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) from bytes split at any position, even inside a character or
 * line ending. Text after the last empty line is dropped when the stream ends.
 */
export const createEventStreamReader = (): EventStreamReader => {
  // The decoder drops a leading byte order mark, as the standard requires.
  const decoder = new TextDecoder();
  let line = '';
  let data: string[] = [];
  let characters = 0;
  let endedWithReturn = false;

  const endLine = (events: string[]): void => {
    if (line === '') {
      if (data.length > 0) events.push(data.join('\n'));
      data = [];
      characters = 0;
    } else if (line === 'data' || line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    } else {
      // Comments and other fields are dropped.
      characters -= line.length;
    }
    line = '';
  };

  const extendLine = (text: string): void => {
    line += text;
    characters += text.length;
    if (characters > EVENT_CHARACTERS_MAX) throw new RangeError('An event of the stream is too long.');
  };

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      const events: string[] = [];
      // Skips the second half of a CRLF that was split.
      let from = endedWithReturn && text.startsWith('\n') ? 1 : 0;
      if (text !== '') endedWithReturn = text.endsWith('\r');
      for (const { 0: ending, index } of text.matchAll(/\r\n|\r|\n/g)) {
        if (index < from) continue;
        extendLine(text.slice(from, index));
        endLine(events);
        from = index + ending.length;
      }
      extendLine(text.slice(from));
      return events;
    },
  };
};
