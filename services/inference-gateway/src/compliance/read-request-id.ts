import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@svc/service-kit';
import { kindOf } from '../providers/index.ts';
import type { Provider } from '../routes/index.ts';

/** Who answers, and with which headers. */
interface AnsweredBy {
  readonly provider: Pick<Provider, 'kind'>;
  readonly headers: IncomingHttpHeaders;
}

/** What a header may carry on to the caller. */
const WELL_FORMED = /^[\x21-\x7e]{1,200}$/;

/**
 * The provider's id of a request: from its header, or else the id in its body. Undefined where neither is there. Throws
 * `provider_attribution_ambiguous` where headers contradict each other.
 */
export const readRequestId = ({ provider, headers }: AnsweredBy, bodyId: unknown): string | undefined => {
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

/** The same id for a record alone, where it proves nothing: the first that is there. */
export const recordedRequestId = ({ provider, headers }: AnsweredBy, bodyId: unknown): string | null => {
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
