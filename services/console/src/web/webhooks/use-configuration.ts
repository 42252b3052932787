import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Answer, ApiError, useApi } from '../api/index.ts';
import { useWebhookOperations } from './webhook-operations.ts';

/** The configuration of a webhook as it is. */
export type Configuration = Answer<'getWebhookConfiguration'>;

/** A lane blocks and recovers by itself; without a webhook there is none to follow. */
const REFRESH_MS = 10_000;

/**
 * Reads the webhook of an app, or of the account, whose id then stands for the app's. Null where there is none, which is an answer
 * and not a failure.
 */
export const useConfiguration = (clientId: string): UseQueryResult<Configuration | null, Error> => {
  const { call } = useApi();
  const { operations } = useWebhookOperations();
  return useQuery<Configuration | null, Error>({
    queryKey: [operations.configuration, clientId],
    queryFn: async ({ signal }) => {
      try {
        const configuration = await call(operations.configuration, { params: { client_id: clientId } }, signal);
        return { ...configuration, client_id: clientId };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === null ? false : REFRESH_MS),
  });
};
