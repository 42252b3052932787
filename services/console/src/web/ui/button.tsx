import type { ComponentProps, ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon, type IconName } from './icon.tsx';

/** Weight of a button. */
export type ButtonVariant = 'primary' | 'secondary' | 'danger' | 'quiet';

interface Look {
  readonly variant?: ButtonVariant;
  readonly small?: boolean;
  readonly icon?: IconName;
}

const classOf = ({ variant = 'secondary', small = false }: Look): string =>
  `button button-${variant}${small ? ' button-small' : ''}`;

/** Renders a button. With `busyLabel` it shows progress, keeps the focus, and ignores further presses. */
export const Button = ({
  variant,
  small,
  icon,
  busyLabel,
  children,
  onClick,
  ...rest
}: Look & { busyLabel?: string | undefined } & Omit<ComponentProps<'button'>, 'className'>): ReactElement => {
  const isBusy = busyLabel !== undefined;
  return (
    <button
      type="button"
      {...rest}
      className={classOf({ ...(variant && { variant }), ...(small && { small }) })}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {isBusy ? <span className="spinner" aria-hidden="true" /> : icon !== undefined && <Icon name={icon} />}
      <span>{busyLabel ?? children}</span>
    </button>
  );
};

/** Renders a link that looks like a button. Set `leavesConsole` for a page that another service renders. */
export const ButtonLink = ({
  to,
  variant,
  small,
  icon,
  leavesConsole = false,
  children,
}: Look & { to: string; leavesConsole?: boolean; children: ReactNode }): ReactElement => {
  const className = classOf({ ...(variant && { variant }), ...(small && { small }) });
  const content = (
    <>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </>
  );
  return leavesConsole ? (
    <a href={to} className={className}>
      {content}
    </a>
  ) : (
    <Link to={to} className={className}>
      {content}
    </Link>
  );
};
