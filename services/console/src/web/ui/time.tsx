import { type ReactElement, useEffect, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';

const TICK_MS = 30_000;

/** The current time, followed closely enough for texts such as `in 3 minutes`. */
export const useNow = (): Date => {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
};

/** An instant as people say it, with the exact time for those who point at it. */
export const Time = ({
  at,
  exact = false,
}: {
  at: string;
  /** With `seconds` for what happens many times a minute. */
  exact?: boolean | 'seconds';
}): ReactElement => {
  const { formats } = useCoreI18n();
  const now = useNow();
  return (
    <time dateTime={at} title={formats.dateTimeSeconds(at)}>
      {exact === false
        ? formats.relative(at, now)
        : exact === true
          ? formats.dateTime(at)
          : formats.dateTimeSeconds(at)}
    </time>
  );
};
