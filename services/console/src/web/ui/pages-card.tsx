import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';
import { Card, EmptyState } from './card.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { Loading } from './loading.tsx';

/** Renders a list page by page, with a button for the next one. */
export const PagesCard = <T,>({
  title,
  lead,
  empty,
  pages,
  children,
}: {
  title: string;
  lead: string;
  /** Text for a list without records. */
  empty: string;
  pages: UseInfiniteQueryResult<InfiniteData<{ readonly data: T[] }>, Error>;
  children: (records: readonly T[]) => ReactNode;
}): ReactElement => {
  const { common } = useCoreI18n().messages;
  const records = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Card title={title} lead={lead}>
      {pages.isPending && <Loading lines={4} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && records.length === 0 && <EmptyState text={empty} />}
      {records.length > 0 && children(records)}
      {pages.hasNextPage && (
        <Button
          busyLabel={pages.isFetchingNextPage ? common.loading : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          {common.loadMore}
        </Button>
      )}
    </Card>
  );
};
