import type { BudgetLimit, Connection } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { parseAmount, typedAmount, useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Form, fault, SelectField, TextField, useForm } from '../ui/index.ts';

interface BudgetValues {
  readonly limit: string;
  readonly period: BudgetLimit['period'];
}

const PERIODS: readonly BudgetLimit['period'][] = ['week', 'month', 'total'];

/** Sets, changes or removes the limit of an app. */
export const BudgetDialog = ({
  connection,
  currency,
  onClose,
}: {
  connection: Connection;
  currency: string;
  onClose: () => void;
}): ReactElement => {
  const { messages, locale } = useI18n();
  const { connections, faults } = messages;
  const toast = useToast();
  const { budget, app } = connection;
  const update = useApiMutation('updateConnection', { refreshes: ['listConnections'] });
  const form = useForm<BudgetValues>({
    draft: `budget-${connection.client_id}`,
    initial: {
      limit: budget === null ? '' : typedAmount(budget.limit_micros, locale),
      period: budget?.period ?? 'week',
    },
    check: ({ limit }) =>
      limit.trim() === '' || parseAmount(limit) !== undefined ? [] : [fault('limit', faults.amount)],
    submit: async (values) => {
      await update.mutateAsync({
        params: { client_id: connection.client_id },
        body: { budget: toLimit(values, budget?.expires_at ?? null) },
      });
      toast(connections.saved(app.name));
      onClose();
    },
  });
  const { values, set, faultOf } = form;
  return (
    <Dialog onClose={onClose} title={connections.editOf(app.name)}>
      <p className="hint">{connections.editLead}</p>
      <Form form={form} label={connections.editOf(app.name)}>
        <TextField
          label={connections.limitAmount(currency)}
          hint={connections.limitHint}
          optional
          inputMode="decimal"
          autoComplete="off"
          value={values.limit}
          onChange={(limit) => set('limit', limit)}
          fault={faultOf('limit')}
        />
        <SelectField
          label={connections.limitPeriod}
          value={values.period}
          onChange={(period) => set('period', period)}
          fault={faultOf('period')}
          options={PERIODS.map((value) => ({ value, label: connections.limitPeriods[value] }))}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? connections.saving : undefined}>
            {connections.save}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

/** Converts the form to a limit; null for none. */
const toLimit = ({ limit, period }: BudgetValues, expiresAt: string | null): BudgetLimit | null => {
  const micros = parseAmount(limit);
  return micros === undefined ? null : { limit_micros: micros, period, expires_at: expiresAt };
};
