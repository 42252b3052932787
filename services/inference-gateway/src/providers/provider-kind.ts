import type { Route } from '../routes/index.ts';
import type { OutputLimitMember } from '../wire/index.ts';
import type { ReadWireError } from './common-wire/index.ts';

/** How the offering of one provider differs from the common wire format. */
export interface ProviderKind {
  /** The headers that carry the key. */
  readonly keyHeaders: (apiKey: string) => Readonly<Record<string, string>>;
  /** Where an endpoint such as `/chat/completions` lies below the base URL, with its query. */
  readonly pathOf: (endpoint: string, route: Route) => string;
  /** Headers that carry the id of a request. */
  readonly requestIdHeaders: RequestIdHeaders;
  /** Streams end with their usage unasked, and a request that asks for it is refused. */
  readonly alwaysReportsUsage: boolean;
  /** Chunks that name no model may come before those that do. */
  readonly namesModelLate: boolean;
  /** Members of JSON requests that have another name there; null where they are refused, and so left out. */
  readonly memberNames: Readonly<Record<string, string | null>>;
  /** The limit of the output that every model there takes. */
  readonly outputLimitMember: OutputLimitMember;
  /** Fields of the transcription form as they are sent. */
  readonly formFields: (fields: FormFields) => FormFields;
  /** The most tokens that one image costs. */
  readonly imageTokensMax: number;
  /** The error that the body of a refusal tells of. */
  readonly readError: ReadWireError;
}

/** Fields of a form beside its file, by their names. */
export type FormFields = ReadonlyMap<string, string>;

/** Names of headers that carry the id of a request. */
export interface RequestIdHeaders {
  /** The provider's own: they mean the same thing, so they must agree. */
  readonly primary: readonly string[];
  /** Used in this order where there is none of the first. */
  readonly secondary: readonly string[];
}
