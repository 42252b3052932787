import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Answer, ApiError, useApi } from '../api/index.ts';

/** The configuration of a webhook as it is. */
export type Configuration = Answer<'getWebhookConfiguration'>;

/** A lane blocks and recovers by itself; without a webhook there is none to follow. */
const REFRESH_MS = 10_000;

/** Reads the webhook of an app; null where there is none, which is an answer and not a failure. */
export const useConfiguration = (clientId: string): UseQueryResult<Configuration | null, Error> => {
  const { call } = useApi();
  return useQuery<Configuration | null, Error>({
    queryKey: ['getWebhookConfiguration', clientId],
    queryFn: async ({ signal }) => {
      try {
        return await call('getWebhookConfiguration', { params: { client_id: clientId } }, signal);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === null ? false : REFRESH_MS),
  });
};
