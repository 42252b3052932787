import {
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { createContext, use } from 'react';
import { ApiError } from './api-error.ts';
import type { Answer, Input, OperationName } from './operations.ts';
import type { Transport } from './send-request.ts';

const STALE_AFTER_MS = 10_000;
const RETRIES_MAX = 2;

/** Creates the cache of responses. Retries transient failures and shows others at once. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_AFTER_MS,
        retry: (failures, error) => error instanceof ApiError && error.isTransient && failures < RETRIES_MAX,
      },
      // Some responses are secrets that are shown once, so none is cached.
      // Without a network they fail at once: a press must not wait in an invisible queue.
      mutations: { retry: false, gcTime: 0, networkMode: 'always' },
    },
  });

/** The client that all pages share. */
export const ApiContext = createContext<ApiClient | undefined>(undefined);

/** Returns the client of the pages. */
export const useApi = (): ApiClient => {
  const client = use(ApiContext);
  if (client === undefined) throw new Error('there is no ApiContext above');
  return client;
};

export interface ApiQueryOptions<K extends OperationName> {
  readonly enabled?: boolean;
  /** Milliseconds until it is read again; false for never. */
  readonly refetchInterval?: (answer: Answer<K> | undefined) => number | false;
  readonly staleTime?: number;
  readonly retry?: (failures: number, error: Error) => boolean;
}

/** Reads a route, and again when it may have changed. */
export const useApiQuery = <K extends OperationName>(
  operation: K,
  input: Input<K>,
  { refetchInterval, ...options }: ApiQueryOptions<K> = {},
): UseQueryResult<Answer<K>, Error> => {
  const { call } = useApi();
  return useQuery<Answer<K>, Error, Answer<K>, readonly unknown[]>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => call(operation, input, signal),
    ...(refetchInterval === undefined ? {} : { refetchInterval: (query) => refetchInterval(query.state.data) }),
    ...options,
  });
};

/** Returns true until a query has been answered or has failed for the first time. */
export const isAwaited = ({
  isPending,
  failureCount,
}: Pick<UseQueryResult<unknown, Error>, 'isPending' | 'failureCount'>): boolean => isPending && failureCount === 0;

/** Statuses which mean that the page is outdated. */
const OUTDATED_STATUSES = new Set([404, 409]);

/** Operations whose answer holds what can never be read again. */
type OnceOnlyOperation =
  | 'registerApp'
  | 'rotateAppSecret'
  | 'createKey'
  | 'rotateKey'
  | 'configureWebhook'
  | 'rotateWebhookSecret'
  | 'confirmTotp'
  | 'addPasskey'
  | 'renewRecoveryCodes';

/** Consequences of a successful call. */
export interface ApiMutationOptions<K extends OperationName> {
  /** Shows what cannot be read again. Called at once, even if the component was removed from the page. */
  readonly shows?: (answer: Answer<K>) => void;
  /** Queries to refresh after the call. */
  readonly refreshes?: readonly OperationName[];
  /** Called even if the component was removed from the page, which refreshed queries can cause. */
  readonly onDone?: (answer: Answer<K>) => void;
}

/** Requires `shows` where an answer would be lost without it. */
type OptionsOf<K extends OperationName> = K extends OnceOnlyOperation
  ? [ApiMutationOptions<K> & Required<Pick<ApiMutationOptions<K>, 'shows'>>]
  : [ApiMutationOptions<K>?];

/** Calls a route that changes something, then refreshes the queries that it affects or that turn out to be outdated. */
export const useApiMutation = <K extends OperationName>(
  operation: K,
  ...[options]: OptionsOf<K>
): UseMutationResult<Answer<K>, Error, Input<K>> => {
  const { call } = useApi();
  const queries = useQueryClient();
  // Both branches of OptionsOf hold the options of K.
  const { refreshes = [], onDone, shows } = (options ?? {}) as ApiMutationOptions<K>;
  const refresh = async (): Promise<void> => {
    await Promise.all(refreshes.map((name) => queries.invalidateQueries({ queryKey: [name] })));
  };
  return useMutation<Answer<K>, Error, Input<K>>({
    mutationFn: async (input) => {
      const answer = await call(operation, input);
      shows?.(answer);
      return answer;
    },
    onSuccess: async (answer) => {
      await refresh();
      onDone?.(answer);
    },
    onError: async (error) => {
      if (error instanceof ApiError && OUTDATED_STATUSES.has(error.status)) await refresh();
    },
  });
};

/** Source of the session's token. */
export interface TokenSource {
  /** Returns the token in memory; undefined if no one is signed in. */
  readonly current: () => string | undefined;
  /** Returns true while an account is shown whose session has not been resumed yet. */
  readonly isRestored: () => boolean;
  /** Resumes the session; undefined if there is none. Rejects if that is unknown. */
  readonly renew: () => Promise<string | undefined>;
}

/** Calls routes as the signed-in person. */
export interface ApiClient {
  readonly call: <K extends OperationName>(operation: K, input: Input<K>, signal?: AbortSignal) => Promise<Answer<K>>;
  /** Fetches a route's response in another media type, as a file. */
  readonly download: <K extends OperationName>(operation: K, input: Input<K>, accept: string) => Promise<Blob>;
}

/**
 * Creates the client of the pages. If the session is refused, resumes it and repeats the call once. Repeats a sensitive
 * call once after the person has authenticated again, as `stepUp` does. Services refuse before they change anything, so
 * no call takes effect twice.
 */
export const createClient = (
  transport: Transport,
  tokens: TokenSource,
  stepUp: () => Promise<boolean> = async () => false,
): ApiClient => {
  const withToken = async <T>(send: (token: string | undefined) => Promise<T>): Promise<T> => {
    const token = tokens.isRestored() ? await tokens.renew() : tokens.current();
    try {
      return await send(token);
    } catch (error) {
      if (!(error instanceof ApiError) || token === undefined) throw error;
      // The role has changed: the renewed session shows what it allows now.
      if (error.code === 'role_not_allowed') void tokens.renew().catch(() => undefined);
      if (!error.isSessionRefused && !error.isTokenOutdated) throw error;
      const fresh = tokens.current() === token ? await tokens.renew() : tokens.current();
      if (fresh === undefined) throw error;
      return await send(fresh);
    }
  };
  const withStepUp = async <T>(send: (token: string | undefined) => Promise<T>): Promise<T> => {
    try {
      return await withToken(send);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isStepUpRequired || !(await stepUp())) throw error;
      return await withToken(send);
    }
  };
  return {
    call: (operation, input, signal) => withStepUp((token) => transport.send(operation, input, { token, signal })),
    download: (operation, input, accept) =>
      withStepUp((token) => transport.download(operation, input, { token, accept })),
  };
};

interface ApiPage<T> {
  readonly data: T[];
  readonly has_more: boolean;
}

/** Reads a list page by page. `read` fetches the page after an id, or the first one. */
export const useApiPages = <T extends { readonly id: string }>(
  operation: OperationName,
  read: (after: string | undefined, signal: AbortSignal) => Promise<ApiPage<T>>,
) =>
  useInfiniteQuery({
    queryKey: [operation],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.id : undefined),
  });
