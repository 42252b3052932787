import { routePaths } from '../generated/contract.ts';

/** Paths of the called endpoints, relative to the base URL. */
export const paths = {
  ...routePaths,
  requestUsage: (requestId: string): string =>
    routePaths.requestUsage.replace('{request_id}', encodeURIComponent(requestId)),
  requestReceipt: (requestId: string): string =>
    routePaths.requestReceipt.replace('{request_id}', encodeURIComponent(requestId)),
} as const;
