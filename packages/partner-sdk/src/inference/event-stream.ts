/** No event of a chat comes near this; more is not held in memory. */
const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Takes bytes as they come and gives the `data` of each event that they complete. */
export interface EventStreamReader {
  /** Throws `RangeError` on an event without end. */
  push(bytes: Uint8Array): string[];
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) whose bytes may be cut anywhere: within a character, within an end
 * of line. What follows the last empty line when the stream ends is no event.
 */
export const createEventStreamReader = (): EventStreamReader => {
  // Drops a byte order mark at the very start, as it must.
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
      // Comments and other fields are not kept.
      characters -= line.length;
    }
    line = '';
  };

  const extendLine = (text: string): void => {
    line += text;
    characters += text.length;
    if (characters > EVENT_CHARACTERS_MAX) throw new RangeError('An event of the stream has no end.');
  };

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      const events: string[] = [];
      // The second half of an end of line that was cut in two.
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
