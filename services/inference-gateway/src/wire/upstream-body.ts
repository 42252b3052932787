import { applyEdits, type ByteEdit, findMember, insertFirst, type JsonObjectSpan } from './json-members.ts';

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
    const streamOptions = readStreamOptions({ bytes, span });
    if (streamOptions !== undefined && !asksForUsage(streamOptions)) {
      replace('stream_options', JSON.stringify({ ...streamOptions, include_usage: true }));
    }
  }
  const first = added.length > 0 ? [insertFirst(span, added)] : [];
  return applyEdits(
    bytes,
    [...first, ...edits].sort((a, b) => a.start - b.start),
  );
};

/** Whether the caller wants to see the usage of its stream. */
export const wantsUsage = (body: RequestBody): boolean => {
  const streamOptions = readStreamOptions(body);
  return streamOptions !== undefined && asksForUsage(streamOptions);
};

const asksForUsage = (streamOptions: Readonly<Record<string, unknown>>): boolean =>
  streamOptions['include_usage'] === true;

/** The caller's `stream_options`, empty where there are none; undefined for what the provider must refuse, not we. */
const readStreamOptions = ({ bytes, span }: RequestBody): Readonly<Record<string, unknown>> | undefined => {
  const member = findMember(span, 'stream_options');
  if (member === undefined) return {};
  const value: unknown = JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd));
  if (value === null) return {};
  return typeof value === 'object' && !Array.isArray(value) ? { ...value } : undefined;
};
