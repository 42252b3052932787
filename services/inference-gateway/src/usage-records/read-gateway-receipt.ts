import { AppError } from '@svc/service-kit';
import { isRecordedFor, type RequestOwner } from './queries.ts';
import type { UsageRoutesDeps } from './routes.ts';

/**
 * Reads the receipt of an API-key request. Throws `not_found`, `not_settled` while it runs or its outcome is on its way, or
 * `service_unavailable`. Billing knows a request once it has settled it; until then, only its gateway does.
 */
export const readGatewayReceipt = async (
  { database, billing, usage }: UsageRoutesDeps,
  owner: RequestOwner,
  requestId: string,
): Promise<string> => {
  const request = { request_id: requestId, svc_user_id: owner.userId, key_id: owner.keyId };
  const unwritten = usage.find(requestId);
  const isTheirs =
    unwritten?.identity.userId === owner.userId && (owner.keyId === null || unwritten.identity.keyId === owner.keyId);
  if (isTheirs && !unwritten.hasEnded)
    throw new AppError('not_settled', undefined, { headers: { 'Retry-After': '1' } });
  try {
    return await billing.signReceipt({ ...request, has_ended: isTheirs });
  } catch (error) {
    const isUnknown = error instanceof AppError && error.code === 'not_found' && !isTheirs;
    if (!isUnknown || !(await isRecordedFor(database, owner, requestId))) throw error;
    return await billing.signReceipt({ ...request, has_ended: true });
  }
};
