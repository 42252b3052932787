export { ApiError, type ApiErrorCode } from './api-error.ts';
export { type ApiClient, createClient, type TokenSource } from './create-client.ts';
export { type Answer, type Input, type ItemOf, type OperationName, operations, roleNeedOf } from './operations.ts';
export { createTransport, type Transport } from './send-request.ts';
export { ApiContext, createQueryClient, isAwaited, useApi, useApiMutation, useApiQuery } from './use-api.ts';
export { useApiPages } from './use-api-pages.ts';
export { useIsOnline, useOutage } from './use-connection.ts';
