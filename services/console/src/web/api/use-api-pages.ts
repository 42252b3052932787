import { useInfiniteQuery } from '@tanstack/react-query';
import type { OperationName } from './operations.ts';

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
