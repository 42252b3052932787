import {
  applyEdits,
  type ByteEdit,
  findMember,
  insertFirst,
  type JsonMember,
  type JsonObjectSpan,
  scanObject,
} from './json-members.ts';

const OPEN_BRACE = 0x7b;
const USAGE_OPTION = 'include_usage';

/** A request body as it came, and where its members lie. */
export interface RequestBody {
  readonly bytes: Buffer;
  readonly span: JsonObjectSpan;
}

/** What the gateway sets in a body that it forwards. */
export interface UpstreamBodyOptions {
  readonly model: string;
  /** The provider is to say the usage at the end of the stream, whether or not the caller wants to see it. */
  readonly mustTellUsage: boolean;
}

/** The body for the provider: the model is the route's, streams tell their usage, every other byte is as it came. */
export const toUpstreamBody = ({ bytes, span }: RequestBody, options: UpstreamBodyOptions): Buffer => {
  const model = JSON.stringify(options.model);
  const edits: ByteEdit[] = [];
  const added: string[] = [];
  const replace = (key: string, text: string): void => {
    const member = findMember(span, key);
    if (member === undefined) added.push(`${JSON.stringify(key)}:${text}`);
    else edits.push({ start: member.valueStart, end: member.valueEnd, text });
  };
  replace('model', model);
  if (options.mustTellUsage) {
    const nested = streamOptionsOf({ bytes, span });
    if (nested === undefined) replace('stream_options', '{"include_usage":true}');
    else if (nested !== 'unreadable') edits.push(...askForUsage(bytes, nested));
  }
  const first = added.length > 0 ? [insertFirst(span, added)] : [];
  return applyEdits(
    bytes,
    [...first, ...edits].sort((a, b) => a.start - b.start),
  );
};

/** Whether the caller wants to see the usage of its stream. */
export const wantsUsage = (body: RequestBody): boolean => {
  const nested = streamOptionsOf(body);
  return typeof nested === 'object' && asksForUsage(body.bytes, findMember(nested, USAGE_OPTION));
};

const asksForUsage = (bytes: Buffer, option: JsonMember | undefined): boolean =>
  option !== undefined && bytes.toString('latin1', option.valueStart, option.valueEnd) === 'true';

/** Says `true` where the option is not or says otherwise; what stands beside it stays as it came. */
const askForUsage = (bytes: Buffer, nested: JsonObjectSpan): ByteEdit[] => {
  const option = findMember(nested, USAGE_OPTION);
  if (asksForUsage(bytes, option)) return [];
  if (option === undefined) return [insertFirst(nested, [`"${USAGE_OPTION}":true`])];
  return [{ start: option.valueStart, end: option.valueEnd, text: 'true' }];
};

/** The caller's `stream_options`, undefined where there are none; `unreadable` is what the provider must refuse, not we. */
export const streamOptionsOf = ({ bytes, span }: RequestBody): JsonObjectSpan | 'unreadable' | undefined => {
  const member = findMember(span, 'stream_options');
  if (member === undefined || bytes.toString('latin1', member.valueStart, member.valueEnd) === 'null') return undefined;
  return bytes[member.valueStart] === OPEN_BRACE ? scanObject(bytes, member.valueStart) : 'unreadable';
};
