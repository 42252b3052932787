import type { AppReportReason, Connection } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, SelectField, TextArea, useForm } from '../ui/index.ts';

const REASONS: readonly AppReportReason[] = ['impersonation', 'spam', 'misuse', 'other'];
const COMMENT_CHARACTERS_MAX = 500;

interface ReportValues {
  readonly reason: AppReportReason;
  readonly comment: string;
}

/** Reports an app to the operators. */
export const ReportDialog = ({
  connection,
  onClose,
}: {
  connection: Connection;
  onClose: () => void;
}): ReactElement => {
  const { connections } = useI18n().messages;
  const toast = useToast();
  const { client_id, app } = connection;
  const report = useApiMutation('reportApp');
  const form = useForm<ReportValues>({
    draft: `report-${client_id}`,
    initial: { reason: 'impersonation', comment: '' },
    check: ({ comment }) => checkText('comment', comment, { max: COMMENT_CHARACTERS_MAX }),
    submit: async ({ reason, comment }) => {
      const said = comment.trim();
      await report.mutateAsync({ params: { client_id }, body: said === '' ? { reason } : { reason, comment: said } });
      toast(connections.reported);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={connections.reportApp(app.name)}>
      <p className="hint">{connections.reportLead}</p>
      <Form form={form} label={connections.reportApp(app.name)}>
        <SelectField
          label={connections.reportReason}
          value={form.values.reason}
          onChange={(reason) => form.set('reason', reason)}
          fault={form.faultOf('reason')}
          options={REASONS.map((value) => ({ value, label: connections.reportReasons[value] }))}
        />
        <TextArea
          label={connections.reportComment}
          hint={connections.reportCommentHint}
          optional
          value={form.values.comment}
          onChange={(comment) => form.set('comment', comment)}
          fault={form.faultOf('comment')}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? connections.reporting : undefined}>
            {connections.reportSend}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};
