import type { AuditAction } from '@svc/contracts';
import { auditActions } from '@svc/contracts/roles';

/** Selection of acts. Empty texts select all; both days are included. */
export interface AuditFilter {
  readonly actor: string;
  readonly action: '' | AuditAction;
  readonly from: string;
  readonly to: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads a filter from the query of the page's address. Unknown values select all. */
export const readFilter = (search: URLSearchParams): AuditFilter => {
  const dayOf = (name: string): string => {
    const text = search.get(name) ?? '';
    return DAY.test(text) ? text : '';
  };
  return {
    actor: search.get('actor') ?? '',
    action: auditActions.find((action) => action === search.get('action')) ?? '',
    from: dayOf('from'),
    to: dayOf('to'),
  };
};

/** Writes a filter as the query of the page's address. */
export const writeFilter = (filter: AuditFilter): Record<string, string> =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));

/** Returns the filter as the service reads it, whose end is excluded. Days are those of the browser's clock. */
export const toQuery = ({ actor, action, from, to }: AuditFilter) => ({
  ...(actor === '' ? {} : { actor }),
  ...(action === '' ? {} : { action }),
  ...(from === '' ? {} : { from: startOf(from, 0) }),
  ...(to === '' ? {} : { to: startOf(to, 1) }),
});

const startOf = (day: string, daysLater: number): string => {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
};
