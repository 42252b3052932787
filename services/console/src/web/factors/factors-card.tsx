import type { Factor } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { type Answer, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { ConfirmDialog } from '../overlays/index.ts';
import { passkeyObstacle } from '../passkeys.ts';
import { useAccount } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, ErrorNotice, Loaded, Notice, Time } from '../ui/index.ts';
import { PasskeyDialog } from './passkey-dialog.tsx';
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx';
import { TotpDialog } from './totp-dialog.tsx';

/** Number of codes at which the owner is warned. */
const FEW_CODES = 2;

type Question =
  | { readonly about: 'totp'; readonly added: Answer<'addTotp'>; readonly hadCodes: boolean }
  | { readonly about: 'removal'; readonly factor: Factor; readonly isLast: boolean }
  | { readonly about: 'passkey' | 'codes' };

/** Lists second factors, adds and removes them, and renews the recovery codes. */
export const FactorsCard = (): ReactElement => {
  const { factors: texts } = useI18n().messages;
  const list = useApiQuery('listFactors', {});
  const [question, setQuestion] = useState<Question>();
  return (
    <Card title={texts.title} lead={texts.lead}>
      <Loaded query={list} lines={2}>
        {(factors) => <Factors factors={factors} onAsk={setQuestion} />}
      </Loaded>
      {question !== undefined && <QuestionDialog question={question} onClose={() => setQuestion(undefined)} />}
    </Card>
  );
};

const Factors = ({
  factors: { data, recovery_codes_left: codesLeft },
  onAsk,
}: {
  factors: Answer<'listFactors'>;
  onAsk: (question: Question) => void;
}): ReactElement => {
  const { factors: texts, common } = useI18n().messages;
  const obstacle = passkeyObstacle();
  const addTotp = useApiMutation('addTotp', {
    onDone: (added) => onAsk({ about: 'totp', added, hadCodes: data.length > 0 }),
  });
  return (
    <>
      {data.length === 0 ? (
        <p>{texts.empty}</p>
      ) : (
        <ul className="rows">
          {data.map((factor) => (
            <FactorRow
              key={factor.id}
              factor={factor}
              onRemove={() => onAsk({ about: 'removal', factor, isLast: data.length === 1 })}
            />
          ))}
          <RecoveryRow count={codesLeft} onRenew={() => onAsk({ about: 'codes' })} />
        </ul>
      )}
      {addTotp.isError && <ErrorNotice error={addTotp.error} />}
      <div className="actions">
        <Button busyLabel={addTotp.isPending ? common.working : undefined} onClick={() => addTotp.mutate({})}>
          {texts.addTotp}
        </Button>
        <Button disabled={obstacle !== undefined} onClick={() => onAsk({ about: 'passkey' })}>
          {texts.addPasskey}
        </Button>
      </div>
      {obstacle !== undefined && <p className="hint">{texts.passkeyObstacles[obstacle]}</p>}
    </>
  );
};

const QuestionDialog = ({ question, onClose }: { question: Question; onClose: () => void }): ReactElement => {
  switch (question.about) {
    case 'totp':
      return <TotpDialog added={question.added} hadCodes={question.hadCodes} onClose={onClose} />;
    case 'removal':
      return <RemoveFactorDialog factor={question.factor} isLast={question.isLast} onClose={onClose} />;
    case 'passkey':
      return <PasskeyDialog onClose={onClose} />;
    case 'codes':
      return <RenewCodesDialog onClose={onClose} />;
  }
};

/** Shows the number of remaining recovery codes. */
const RecoveryRow = ({ count, onRenew }: { count: number; onRenew: () => void }): ReactElement => {
  const { factors: texts } = useI18n().messages;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">{texts.codes}</p>
        <p className="hint">{texts.codesLeft(count)}</p>
      </div>
      <span className="row-end">
        <Button small onClick={onRenew}>
          {texts.renew}
        </Button>
      </span>
      {count <= FEW_CODES && (
        <Notice tone="warn" title={texts.codesFewTitle}>
          <p>{texts.codesFewText}</p>
        </Notice>
      )}
    </li>
  );
};

/** Renders a second factor in the list. */
const FactorRow = ({ factor, onRemove }: { factor: Factor; onRemove: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { factors: texts } = messages;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">{factor.name}</p>
        <p className="hint">
          {factor.name !== texts.types[factor.type] && `${texts.types[factor.type]} · `}
          {texts.added(formats.date(factor.created_at))} ·{' '}
          {factor.last_used_at === null ? (
            texts.neverUsed
          ) : (
            <>
              {texts.lastUsed} <Time at={factor.last_used_at} />
            </>
          )}
        </p>
      </div>
      <span className="row-end">
        <Button small aria-label={texts.removeOf(factor.name)} onClick={onRemove}>
          {texts.remove}
        </Button>
      </span>
    </li>
  );
};

/** Replaces the recovery codes after a confirmation, and shows the new ones. */
const RenewCodesDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { factors: texts, common } = useI18n().messages;
  const { email } = useAccount();
  const showOnce = useShowOnce();
  const renew = useApiMutation('renewRecoveryCodes', {
    refreshes: ['listFactors'],
    shows: ({ recovery_codes: codes }) => {
      onClose();
      showOnce((close) => <RecoveryCodesDialog codes={codes} email={email} isReplacement onClose={close} />);
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={texts.renewTitle}
      text={texts.renewText}
      confirmLabel={texts.renew}
      busyLabel={common.working}
      isBusy={renew.isPending}
      error={renew.error}
      onConfirm={() => renew.mutate({})}
    />
  );
};

/** Removes a second factor after a confirmation. */
const RemoveFactorDialog = ({
  factor,
  isLast,
  onClose,
}: {
  factor: Factor;
  isLast: boolean;
  onClose: () => void;
}): ReactElement => {
  const { factors: texts, common } = useI18n().messages;
  const toast = useToast();
  const remove = useApiMutation('deleteFactor', {
    refreshes: ['listFactors'],
    onDone: () => {
      toast(texts.removed(factor.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={texts.removeTitle(factor.name)}
      text={isLast ? texts.removeLastText : texts.removeText}
      confirmLabel={texts.remove}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { factor_id: factor.id } })}
    />
  );
};
