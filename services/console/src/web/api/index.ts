export { ApiError, type ApiErrorCode } from './api-error.ts';
export { type Answer, type Input, type ItemOf, type OperationName, operations, roleNeedOf } from './operations.ts';
export { createTransport, type Transport } from './send-request.ts';
export {
  type ApiClient,
  ApiContext,
  createClient,
  createQueryClient,
  isAwaited,
  type TokenSource,
  useApi,
  useApiMutation,
  useApiPages,
  useApiQuery,
} from './use-api.ts';
export { useIsOnline, useOutage } from './use-connection.ts';
