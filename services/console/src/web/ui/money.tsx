import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';

/** Renders a rounded amount, with the exact one as a tooltip. */
export const Money = ({
  micros,
  currency,
  isFine = false,
}: {
  micros: number;
  currency: string;
  /** Keeps significant digits below a cent, for developers' tables. */
  isFine?: boolean;
}): ReactElement => {
  const { formats } = useCoreI18n();
  const text = isFine ? formats.fineMoney(micros, currency) : formats.shortMoney(micros, currency);
  const exact = formats.money(micros, currency);
  return <span title={text === exact ? undefined : exact}>{text}</span>;
};
