import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Route } from '../provider-routes/index.ts';
import { readRequestId } from '../providers/index.ts';
import { type ByteEdit, editPieces, findMember, insertFirst, insertLast, type ResponseSpan } from '../wire/index.ts';

/** Separators between a model's name and the date or tag of a variant. */
const VARIANT_MARKS = ['-', ':', '@'];

/**
 * Returns true if a response's model matches the upstream model of its route: the same name, with or without a path
 * prefix, or a dated or tagged variant. Models with different prefixes are different.
 */
export const coversModel = (upstreamModel: string, answered: string): boolean => {
  const route = splitPrefix(upstreamModel);
  const response = splitPrefix(answered);
  const isSamePrefix = route.prefix === '' || response.prefix === '' || route.prefix === response.prefix;
  if (!isSamePrefix || !response.name.startsWith(route.name)) return false;
  const rest = response.name.slice(route.name.length);
  return rest === '' || (rest.length > 1 && VARIANT_MARKS.includes(rest.charAt(0)));
};

const splitPrefix = (model: string): { prefix: string; name: string } => {
  const slash = model.lastIndexOf('/');
  return { prefix: model.slice(0, Math.max(0, slash)), name: model.slice(slash + 1) };
};

/** Attribution data of a response. */
interface ResponseAttribution {
  readonly route: Route;
  readonly headers: IncomingHttpHeaders;
  readonly model: unknown;
  readonly id: unknown;
}

/** Attribution data of a request. */
interface RequestAttribution {
  readonly requestId: string;
  readonly ingressRegion: string;
  readonly nowMs: number;
}

/** Text that is valid in a response header. */
const PRINTABLE = /^[\x20-\x7e]{1,256}$/;
/** Provider headers about the processing. None contains content. */
const RAW_HEADERS = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'mistral-correlation-id',
  'x-ms-region',
  'openai-processing-ms',
  'openai-version',
];

/**
 * Builds the proof of provider and model, before a successful response starts. Throws `compliance_metadata_missing` if
 * mandatory data is missing, `provider_attribution_ambiguous` if provider or model are unclear.
 */
export const attribute = (response: ResponseAttribution, request: RequestAttribution): ComplianceMetadata => {
  const { route, headers, model } = response;
  const upstreamRequestId = readRequestId({ provider: route.provider, headers }, response.id);
  if (upstreamRequestId === undefined) throw new AppError('compliance_metadata_missing');
  if (typeof model !== 'string' || !PRINTABLE.test(model)) throw new AppError('compliance_metadata_missing');
  if (!coversModel(route.upstreamModel, model)) throw new AppError('provider_attribution_ambiguous');
  const raw = rawHeaders(headers);
  return {
    schema_version: '2',
    provider: route.provider.name,
    model,
    data_zone: route.dataZone,
    ingress_region: request.ingressRegion,
    upstream_request_id: upstreamRequestId,
    gateway_request_id: request.requestId,
    timestamp: new Date(request.nowMs).toISOString(),
    ...(raw === undefined ? {} : { provider_raw: { headers: raw } }),
  };
};

/** Returns the core metadata as response headers. */
export const complianceHeadersOf = (metadata: ComplianceMetadata): OutgoingHttpHeaders => ({
  'X-Svc-Compliance-Schema-Version': metadata.schema_version,
  'X-Svc-Compliance-Provider': encodeName(metadata.provider),
  'X-Svc-Compliance-Model': metadata.model,
  'X-Svc-Compliance-Data-Zone': metadata.data_zone,
  'X-Svc-Compliance-Ingress-Region': metadata.ingress_region,
  'X-Svc-Compliance-Upstream-Request-Id': metadata.upstream_request_id,
  'X-Svc-Compliance-Gateway-Request-Id': metadata.gateway_request_id,
  'X-Svc-Compliance-Timestamp': metadata.timestamp,
});

/** Configured names may use any script, but headers only ASCII (RFC 8187 would need a parameter). */
const encodeName = (name: string): string => (PRINTABLE.test(name) ? name : encodeURIComponent(name));

const rawHeaders = (headers: IncomingHttpHeaders): Record<string, string> | undefined => {
  let kept: Record<string, string> | undefined;
  for (const name of RAW_HEADERS) {
    const value = headers[name];
    if (typeof value !== 'string' || !PRINTABLE.test(value)) continue;
    kept ??= {};
    kept[name] = value;
  }
  return kept;
};

/** `full`: headers, body extension and final chunk. `headers`: the body stays as the provider sent it. */
export type ComplianceMode = 'full' | 'headers';

/** Parses `X-Svc-Compliance`. Throws `compliance_mode_unsupported`, also for `1`, which is for regional routes. */
export const complianceModeOf = (header: string | undefined): ComplianceMode => {
  if (header === undefined || header === '2') return 'full';
  if (header === 'headers') return 'headers';
  throw new AppError('compliance_mode_unsupported');
};

/** Members of `extensions` that the gateway adds to a response. */
interface AddedExtensions {
  readonly compliance_metadata: ComplianceMetadata;
  readonly provenance?: string | undefined;
}

/**
 * Adds `extensions` to a provider's JSON response and returns it in pieces. Every other byte is unchanged, including those of
 * an `extensions` object sent by the provider.
 */
export const stampBody = (
  bytes: Buffer,
  response: Pick<ResponseSpan, 'span' | 'extensions'>,
  added: AddedExtensions,
): Buffer[] => editPieces(bytes, stampEdits(response, added));

/** Returns the edits that add `extensions` to a provider's JSON response. */
export const stampEdits = (
  { span, extensions: theirs }: Pick<ResponseSpan, 'span' | 'extensions'>,
  added: AddedExtensions,
): ByteEdit[] => {
  const extensions = findMember(span, 'extensions');
  const printed = JSON.stringify(added);
  if (extensions === undefined) return [insertLast(span, `"extensions":${printed}`)];
  // Replaces extensions that are not an object, and members of ours that the provider sent empty.
  if (theirs === undefined) return [{ start: extensions.valueStart, end: extensions.valueEnd, text: printed }];
  const missing: string[] = [];
  const replaced: ByteEdit[] = [];
  for (const [name, value] of Object.entries(added)) {
    const text = JSON.stringify(value);
    if (text === undefined) continue;
    const claimed = findMember(theirs, name);
    if (claimed === undefined) missing.push(`${JSON.stringify(name)}:${text}`);
    else replaced.push({ start: claimed.valueStart, end: claimed.valueEnd, text });
  }
  replaced.sort((one, other) => one.start - other.start);
  return missing.length === 0 ? replaced : [insertFirst(theirs, missing), ...replaced];
};
