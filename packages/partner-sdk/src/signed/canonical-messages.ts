type Members = Readonly<Record<string, unknown>>;

interface Call {
  readonly arguments: string;
  readonly name: string;
}

/** A message in its canonical form, with sorted members. */
interface CanonicalMessage {
  readonly content: string | null;
  readonly index: number;
  readonly refusal: string | null;
  readonly tool_calls: readonly Call[];
}

/**
 * Prints the messages of an answer in the form of RFC 8785: a chat completion, its assembled message, or a response object.
 * Throws `TypeError` for any other value.
 */
export const canonicalMessages = (answer: unknown): string => {
  if (!isRecord(answer)) throw new TypeError('The message is no object.');
  const { choices, output } = answer;
  if (Array.isArray(choices))
    return JSON.stringify(choices.map(readChoice).sort((one, other) => one.index - other.index));
  if (Array.isArray(output)) return JSON.stringify([readOutput(output.filter(isRecord))]);
  if (!('content' in answer || 'refusal' in answer || 'tool_calls' in answer)) {
    throw new TypeError('The message has neither choices, output nor content.');
  }
  return JSON.stringify([readMessage(answer, 0)]);
};

const isRecord = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const readChoice = (choice: unknown, place: number): CanonicalMessage => {
  if (!isRecord(choice)) throw new TypeError('A choice is no object.');
  const { index, message } = choice;
  return readMessage(isRecord(message) ? message : {}, typeof index === 'number' ? index : place);
};

const readMessage = ({ content, refusal, tool_calls: calls }: Members, index: number): CanonicalMessage =>
  formOf({
    content: typeof content === 'string' ? content : joinParts(content, 'text', 'text'),
    index,
    refusal: typeof refusal === 'string' ? refusal : '',
    calls: listOf(calls).map(({ function: called, custom }) => {
      const { name, arguments: args, input }: Members = isRecord(called) ? called : isRecord(custom) ? custom : {};
      return callOf(name, args ?? input);
    }),
  });

/** A response is one choice. Its text and refusals may be in several items. */
const readOutput = (items: readonly Members[]): CanonicalMessage => {
  const parts = items.filter(({ type }) => type === 'message').flatMap(({ content }) => listOf(content));
  return formOf({
    content: joinParts(parts, 'output_text', 'text'),
    index: 0,
    refusal: joinParts(parts, 'refusal', 'refusal'),
    calls: items.filter(({ type }) => type === 'function_call').map(({ name, arguments: args }) => callOf(name, args)),
  });
};

const formOf = (read: {
  readonly content: string;
  readonly index: number;
  readonly refusal: string;
  readonly calls: readonly Call[];
}): CanonicalMessage => ({
  content: read.content || null,
  index: read.index,
  refusal: read.refusal || null,
  tool_calls: read.calls,
});

const joinParts = (parts: unknown, type: string, member: string): string =>
  listOf(isRecord(parts) ? [parts] : parts)
    .map((part) => (part['type'] === type && typeof part[member] === 'string' ? part[member] : ''))
    .join('');

const callOf = (name: unknown, args: unknown): Call => ({
  arguments: typeof args === 'string' ? args : args === undefined || args === null ? '' : canonicalJson(args),
  name: typeof name === 'string' ? name : '',
});

/** Some providers send arguments as an object instead of its text. */
const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
};
