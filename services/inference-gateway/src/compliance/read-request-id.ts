import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@svc/service-kit';
import { kindOf } from '../providers/index.ts';
import type { Provider } from '../routes/index.ts';

interface AnswerSource {
  readonly provider: Pick<Provider, 'kind'>;
  readonly headers: IncomingHttpHeaders;
}

/** Ids that are safe to forward in a header. */
const WELL_FORMED = /^[\x21-\x7e]{1,200}$/;

/**
 * Returns the provider's request id from its headers, else from its body; undefined if both lack it. Throws
 * `provider_attribution_ambiguous` if headers contradict each other.
 */
export const readRequestId = ({ provider, headers }: AnswerSource, bodyId: unknown): string | undefined => {
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
export const recordedRequestId = ({ provider, headers }: AnswerSource, bodyId: unknown): string | null => {
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
