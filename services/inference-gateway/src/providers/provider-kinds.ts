import type { IncomingHttpHeaders } from 'node:http';
import type { ProviderKindName } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { z } from 'zod';
import type { Provider, Route } from '../provider-routes/index.ts';
import { IMAGE_TOKENS_MAX, type OutputLimitMember, REWRITTEN_MEMBERS } from '../wire/index.ts';
import { type ReadWireError, readWireError } from './read-refusal.ts';

/** Differences of one provider's API from the common wire format. */
export interface ProviderKind {
  readonly keyHeaders: (apiKey: string) => Readonly<Record<string, string>>;
  /** Returns the path of an endpoint such as `/chat/completions` below the base URL, with its query. */
  readonly pathOf: (endpoint: string, route: Route) => string;
  readonly requestIdHeaders: RequestIdHeaders;
  /** True if streams always end with their usage, and requests must not ask for it. */
  readonly alwaysReportsUsage: boolean;
  /** New names of members of JSON requests; null for members that the provider rejects, which are removed. */
  readonly memberNames: Readonly<Record<string, string | null>>;
  /** Member for the output limit that every model accepts. */
  readonly outputLimitMember: OutputLimitMember;
  /** Translates the fields of the transcription form. */
  readonly formFields: (fields: FormFields) => FormFields;
  /** Maximum tokens of one image. */
  readonly imageTokensMax: number;
  readonly readError: ReadWireError;
}

/** Text fields of a form by name. */
export type FormFields = ReadonlyMap<string, string>;

/** Names of headers with the provider's request id. */
export interface RequestIdHeaders {
  /** The provider's own headers. Their values must agree. */
  readonly primary: readonly string[];
  /** Fallbacks in order of preference. */
  readonly secondary: readonly string[];
}

/** The common wire format, the base of every kind. */
const commonWire: ProviderKind = {
  keyHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  pathOf: (endpoint) => endpoint,
  requestIdHeaders: {
    primary: ['x-request-id', 'request-id'],
    // Set by gateways in front of providers without request ids.
    secondary: ['apim-request-id', 'x-ms-request-id', 'x-correlation-id'],
  },
  alwaysReportsUsage: false,
  memberNames: {},
  outputLimitMember: 'max_tokens',
  formFields: (fields) => fields,
  imageTokensMax: IMAGE_TOKENS_MAX,
  readError: readWireError,
};

/** Mistral's La Plateforme. See `mistral/README.md`. */
const mistral: ProviderKind = {
  ...commonWire,
  requestIdHeaders: { primary: ['mistral-correlation-id'], secondary: ['x-request-id', 'x-kong-request-id'] },
  alwaysReportsUsage: true,
  memberNames: { seed: 'random_seed', max_completion_tokens: 'max_tokens', stream_options: null },
  // Pixtral: one token per patch of 16 by 16 pixels, at most 1024 by 1024 pixels, plus one for each of the 64 rows.
  imageTokensMax: 4_160,
  formFields: (fields) => toMistralFields(fields),
  readError: (body) => readWireError(body) ?? readFieldErrors(body),
};

/** Drops the prompt and the format, which Mistral does not support. It returns segments if timestamps are requested. */
const toMistralFields = (fields: FormFields): FormFields => {
  const kept = new Map([...fields].filter(([name]) => name !== 'prompt' && name !== 'response_format'));
  if (fields.get('response_format') === 'verbose_json') kept.set('timestamp_granularities', 'segment');
  return kept;
};

const fieldErrors = z.object({
  message: z.object({
    detail: z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })).min(1),
  }),
  type: z.string().nullish().catch(null),
});

/** Parses validation errors, which are FastAPI's list inside Mistral's error object. */
const readFieldErrors: ProviderKind['readError'] = (body) => {
  const parsed = fieldErrors.safeParse(body);
  if (!parsed.success) return undefined;
  const { message, type } = parsed.data;
  const faults = message.detail.map(({ loc, msg }) => ({ param: loc.slice(1).join('.'), msg }));
  return {
    message: faults.map(({ param, msg }) => `${param}: ${msg}`).join('; '),
    type: type ?? null,
    param: faults[0]?.param ?? null,
    code: null,
  };
};

/** Azure OpenAI, with its v1 or dated API. See `azure-openai/README.md`. */
const azureOpenai: ProviderKind = {
  ...commonWire,
  keyHeaders: (apiKey) => ({ 'api-key': apiKey }),
  pathOf: (endpoint, { provider, deployment }: Route) =>
    provider.apiVersion === undefined
      ? endpoint
      : `/deployments/${deployment}${endpoint}?api-version=${provider.apiVersion}`,
  // Two services set ids. Azure support needs the id of the outer one.
  requestIdHeaders: { primary: ['apim-request-id'], secondary: ['x-request-id', 'x-ms-request-id'] },
  // Reasoning models reject `max_tokens`.
  outputLimitMember: 'max_completion_tokens',
  // GPT-4o mini: 2,833 tokens per image, plus 5,667 for each of at most eight tiles. Every other model counts fewer.
  imageTokensMax: 48_169,
};

/** Rules of each kind. The README in the folder of a kind names their sources. */
const KINDS: Readonly<Record<ProviderKindName, ProviderKind>> = {
  common: commonWire,
  'azure-openai': azureOpenai,
  mistral,
  ovhcloud: commonWire,
  scaleway: commonWire,
  vllm: commonWire,
};

/** Returns the rules for a provider's `kind` in the routes file. */
export const kindOf = ({ kind }: Pick<Provider, 'kind'>): ProviderKind => KINDS[kind];

/** Request members that some kind of provider renames or rejects, and their new names. */
const RENAMED_MEMBERS: readonly string[] = Object.values(KINDS).flatMap(({ memberNames }) =>
  Object.entries(memberNames).flatMap(([name, renamed]) => (renamed === null ? [name] : [name, renamed])),
);

/** Members of a request that some kind of provider needs rewritten, so their offsets must be known. */
export const FORWARDED_MEMBERS: ReadonlySet<string> = new Set([...REWRITTEN_MEMBERS, ...RENAMED_MEMBERS]);

interface ResponseSource {
  readonly provider: Pick<Provider, 'kind'>;
  readonly headers: IncomingHttpHeaders;
}

/** Ids that are safe to forward in a header. */
const WELL_FORMED = /^[\x21-\x7e]{1,200}$/;

/**
 * Returns the provider's request id from its headers, else from its body; undefined if both lack it. Throws
 * `provider_attribution_ambiguous` if headers contradict each other.
 */
export const readRequestId = ({ provider, headers }: ResponseSource, bodyId: unknown): string | undefined => {
  const { primary, secondary } = kindOf(provider).requestIdHeaders;
  let id: string | undefined;
  for (const name of primary) {
    for (const value of valuesOf(headers[name])) {
      if (id !== undefined && id !== value) throw new AppError('provider_attribution_ambiguous');
      id = value;
    }
  }
  for (const name of secondary) id ??= valuesOf(headers[name])[0];
  return id ?? (typeof bodyId === 'string' && WELL_FORMED.test(bodyId) ? bodyId : undefined);
};

/** Returns the id for a usage record, where it proves nothing: takes the first one and ignores contradictions. */
export const recordedRequestId = ({ provider, headers }: ResponseSource, bodyId: unknown): string | null => {
  const { primary, secondary } = kindOf(provider).requestIdHeaders;
  for (const name of [...primary, ...secondary]) {
    const [id] = valuesOf(headers[name]);
    if (id !== undefined) return id;
  }
  return typeof bodyId === 'string' && WELL_FORMED.test(bodyId) ? bodyId : null;
};

const NONE: readonly string[] = [];

const valuesOf = (value: string | string[] | undefined): readonly string[] => {
  if (value === undefined) return NONE;
  return (Array.isArray(value) ? value : [value]).filter((text) => WELL_FORMED.test(text));
};
