export { ApiError, type ApiErrorCode } from './api-error.ts';
export { type ApiClient, createClient, type TokenSource } from './create-client.ts';
export type { Answer, Input, ItemOf, OperationName } from './operations.ts';
export { createTransport, type Transport } from './send-request.ts';
export { ApiContext, createQueryClient, useApi, useApiMutation, useApiQuery } from './use-api.ts';
