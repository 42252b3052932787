import {
  type ByteEdit,
  editPieces,
  findMember,
  insertFirst,
  type JsonMember,
  type JsonObjectSpan,
  removeMembers,
  scanObject,
} from './json-members.ts';

/** A provider's names for members of a request; null for members that it rejects. */
type MemberNames = Readonly<Record<string, string | null>>;

/**
 * Returns edits that rename members for a provider and remove those that it rejects. If two members get the same name, one
 * that is not null wins, then the one that already had the name. Other bytes are unchanged.
 */
export const renameMembers = ({ bytes, span }: Pick<RequestBody, 'bytes' | 'span'>, names: MemberNames): ByteEdit[] => {
  if (!span.members.some(({ key }) => Object.hasOwn(names, key))) return [];
  const nameOf = (key: string): string | null => (Object.hasOwn(names, key) ? (names[key] ?? null) : key);
  const rank = ({ key, valueStart, valueEnd }: JsonMember): number =>
    (bytes.toString('latin1', valueStart, valueEnd) === 'null' ? 0 : 2) + (nameOf(key) === key ? 1 : 0);
  const holders = new Map<string, JsonMember>();
  for (const member of span.members) {
    const name = nameOf(member.key);
    const holder = name === null ? undefined : holders.get(name);
    if (name !== null && (holder === undefined || rank(member) > rank(holder))) holders.set(name, member);
  }
  const kept = new Set(holders.values());
  const renamed = [...holders].filter(([name, { key }]) => name !== key);
  return [
    ...removeMembers(span.members.filter((member) => !kept.has(member))),
    ...renamed.map(([name, { keyStart, keyEnd }]) => ({ start: keyStart, end: keyEnd, text: JSON.stringify(name) })),
  ];
};

const OPEN_BRACE = 0x7b;
const STREAM_OPTIONS = 'stream_options';
const USAGE_OPTION = 'include_usage';
const USAGE_KEYS: ReadonlySet<string> = new Set([USAGE_OPTION]);

/** Members for the output limit. Providers differ in which one they support. */
const OUTPUT_LIMITS = ['max_tokens', 'max_completion_tokens'] as const;

/** Members of a request that the gateway rewrites. */
export const REWRITTEN_MEMBERS: readonly string[] = ['model', STREAM_OPTIONS, ...OUTPUT_LIMITS];

/** Bytes of a request body, with the offsets of the members that may be rewritten. */
export interface RequestBody {
  readonly bytes: Buffer;
  readonly span: JsonObjectSpan;
  readonly streamOptions: StreamOptions;
}

/** The caller's `stream_options`: undefined if absent or null, `unreadable` for values that the provider will reject. */
export type StreamOptions = JsonObjectSpan | 'unreadable' | undefined;

export type OutputLimitMember = (typeof OUTPUT_LIMITS)[number];

/** Changes to a forwarded body. */
export interface UpstreamBodyOptions {
  readonly model: string;
  /** Requests usage at the end of the stream, even if the caller did not. */
  readonly requestsUsage: boolean;
  /** Output limit for a request without its own; undefined adds none. */
  readonly outputTokensMax?: number | undefined;
  /** The provider's member for the output limit. */
  readonly outputLimitMember: OutputLimitMember;
  readonly memberNames: MemberNames;
}

/** Returns the body for the provider, in pieces. Changes only the model, usage option, output limit and renamed members. */
export const toUpstreamBody = (body: RequestBody, options: UpstreamBodyOptions): Buffer[] => {
  const { bytes, span, streamOptions } = body;
  const edits = renameMembers(body, options.memberNames);
  const added: string[] = [];
  const replace = (key: string, text: string): void => {
    const member = findMember(span, key);
    if (member === undefined) added.push(`${JSON.stringify(key)}:${text}`);
    else edits.push({ start: member.valueStart, end: member.valueEnd, text });
  };
  replace('model', JSON.stringify(options.model));
  if (options.outputTokensMax !== undefined) {
    // Either member is null if the request contains it.
    const named = OUTPUT_LIMITS.find((name) => findMember(span, name) !== undefined);
    replace(named ?? options.outputLimitMember, String(options.outputTokensMax));
  }
  if (options.requestsUsage) {
    if (streamOptions === undefined) replace(STREAM_OPTIONS, '{"include_usage":true}');
    else if (streamOptions !== 'unreadable') edits.push(...requestUsage(bytes, streamOptions));
  }
  if (added.length > 0) edits.push(insertFirst(span, added));
  return editPieces(
    bytes,
    edits.sort((a, b) => a.start - b.start || a.end - b.end),
  );
};

/** Returns true if the caller requests the usage of its stream. */
export const wantsUsage = (bytes: Buffer, options: StreamOptions): boolean =>
  typeof options === 'object' && isTrue(bytes, findMember(options, USAGE_OPTION));

const isTrue = (bytes: Buffer, option: JsonMember | undefined): boolean =>
  option !== undefined && bytes.toString('latin1', option.valueStart, option.valueEnd) === 'true';

/** Returns edits that set the option to `true`, without changing other options. */
const requestUsage = (bytes: Buffer, nested: JsonObjectSpan): ByteEdit[] => {
  const option = findMember(nested, USAGE_OPTION);
  if (isTrue(bytes, option)) return [];
  if (option === undefined) return [insertFirst(nested, [`"${USAGE_OPTION}":true`])];
  return [{ start: option.valueStart, end: option.valueEnd, text: 'true' }];
};

/** Finds the `stream_options` of a body. `keys` are the members to list; null lists all. */
export const readStreamOptions = (
  bytes: Buffer,
  span: JsonObjectSpan,
  keys: ReadonlySet<string> | null = USAGE_KEYS,
): StreamOptions => {
  const member = findMember(span, STREAM_OPTIONS);
  if (member === undefined || bytes.toString('latin1', member.valueStart, member.valueEnd) === 'null') return undefined;
  return bytes[member.valueStart] === OPEN_BRACE
    ? scanObject(bytes, member.valueStart, keys ?? undefined)
    : 'unreadable';
};
