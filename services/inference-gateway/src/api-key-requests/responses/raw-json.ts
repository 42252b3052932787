import { findElements, findValue, isRecord, rootStart, textOfValue } from '../../wire/index.ts';

/** A value that is written as the caller wrote it: numbers, order and repeated members stay as they are. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Formats a value as JSON. Members that are undefined are left out. */
export const writeJson = (value: unknown): string => {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
};

const STRING_OR_BLANKS = /"[^"\\]*(?:\\.[^"\\]*)*"|[\t\n\r ]+/g;

/** Removes the blanks between the tokens of a JSON text, whose line ends would break an event. */
export const compactJson = (text: string): string =>
  text.replace(STRING_OR_BLANKS, (token) => (token.startsWith('"') ? token : ''));

/** The texts of single values of a request. Each is undefined if the request has no such value. */
export interface RawRequest {
  readonly member: (...path: readonly string[]) => RawJson | undefined;
  readonly tool: (place: number, name: string) => RawJson | undefined;
  readonly item: (place: number, name: string) => RawJson | undefined;
}

/** Creates a reader of the texts in a request that has been parsed. */
export const readRawRequest = (bytes: Buffer): RawRequest => {
  const root = rootStart(bytes);
  const textAt = (start: number, path: readonly string[]): RawJson | undefined => {
    const value = findValue(bytes, start, path);
    return value && new RawJson(textOfValue(bytes, value));
  };
  const inList = (list: string) => {
    let elements: ReturnType<typeof findElements> | undefined;
    return (place: number, name: string): RawJson | undefined => {
      elements ??= findElements(bytes, root, [list]);
      const element = elements[place];
      return element && textAt(element.start, [name]);
    };
  };
  return { member: (...path) => textAt(root, path), tool: inList('tools'), item: inList('input') };
};

/** Copies a text to an unpooled buffer, which a worker can transfer. */
export const toOwnBuffer = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};
