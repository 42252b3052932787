import type { Route } from '../routes/index.ts';
import type { OutputLimitMember } from '../wire/index.ts';
import type { ReadWireError } from './common-wire/index.ts';

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
