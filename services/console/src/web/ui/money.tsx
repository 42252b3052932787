import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';

/** Renders an amount in whole cents, with the exact one as a tooltip. */
export const Money = ({ micros, currency }: { micros: number; currency: string }): ReactElement => {
  const { formats } = useCoreI18n();
  const text = formats.shortMoney(micros, currency);
  const exact = formats.money(micros, currency);
  return <span title={text === exact ? undefined : exact}>{text}</span>;
};
