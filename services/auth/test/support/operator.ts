import { createInternalClient, type InternalClient } from '@svc/service-kit';
import { internalCredential } from '@svc/testing';
import type { AuthService } from './auth-service.ts';

/** Opens a client of the operator's routes, as an operator with this name. */
export const openOperator = ({ internalUrl }: Pick<AuthService, 'internalUrl'>, name: string): InternalClient =>
  createInternalClient({
    baseUrl: internalUrl,
    token: internalCredential('operator'),
    operator: name,
    timeoutMs: 10_000,
  });
