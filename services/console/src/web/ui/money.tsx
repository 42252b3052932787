import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';

/** An amount in whole cents, with the exact one for those who point at it. */
export const Money = ({ micros, currency }: { micros: number; currency: string }): ReactElement => {
  const { formats } = useI18n();
  const text = formats.shortMoney(micros, currency);
  const exact = formats.money(micros, currency);
  return <span title={text === exact ? undefined : exact}>{text}</span>;
};
