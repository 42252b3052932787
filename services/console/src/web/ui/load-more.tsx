import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ReactElement, type RefObject, useEffect, useRef, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';

/** Loads the next page of a list. After the last one the focus stays here, on a line that says so. */
export const LoadMore = ({
  pages: { hasNextPage, isFetchingNextPage, fetchNextPage },
  end,
}: {
  pages: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
  /** Line below a complete list. Without it, one appears only in place of the button. */
  end?: string;
}): ReactElement | null => {
  const { common } = useCoreI18n().messages;
  const [wasPressed, setPressed] = useState(false);
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The button had the focus when it went.
    if (wasPressed && !hasNextPage && document.activeElement === document.body) line.current?.focus();
  }, [wasPressed, hasNextPage]);
  if (hasNextPage) {
    return (
      <Button
        busyLabel={isFetchingNextPage ? common.loading : undefined}
        onClick={() => {
          setPressed(true);
          void fetchNextPage();
        }}
      >
        {common.loadMore}
      </Button>
    );
  }
  if (end === undefined && !wasPressed) return null;
  return (
    <p ref={line} tabIndex={-1} className="hint">
      {end ?? common.allLoaded}
    </p>
  );
};

/** First items of a list, and a way to show more, which moves the focus to the first of those. */
export const useFirstItems = <T,>(
  items: readonly T[],
  step: number,
): {
  readonly shown: readonly T[];
  readonly hidden: number;
  readonly list: RefObject<HTMLUListElement | null>;
  readonly showMore: (count?: number) => void;
} => {
  const list = useRef<HTMLUListElement>(null);
  const [max, setMax] = useState(step);
  const [focusAt, setFocusAt] = useState<number>();
  useEffect(() => {
    if (focusAt === undefined) return;
    const target = list.current?.children[focusAt]?.querySelector('a, button');
    if (target instanceof HTMLElement) target.focus();
  }, [focusAt]);
  return {
    shown: items.slice(0, max),
    hidden: Math.max(0, items.length - max),
    list,
    showMore: (count = step) => {
      setFocusAt(max);
      setMax(max + count);
    },
  };
};
