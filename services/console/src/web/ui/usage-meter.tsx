import { type ReactElement, useId } from 'react';

const NEARLY_FULL_PERCENT = 80;

/** A bar of what is used of a limit. */
export const UsageMeter = ({
  label,
  percent,
  percentText,
  text,
  exact,
  note,
}: {
  label: string;
  percent: number;
  percentText: string;
  text: string;
  /** The exact sums, as a tooltip. */
  exact?: string;
  note: string;
}): ReactElement => {
  const labelId = useId();
  const level = percent >= 100 ? 'full' : percent >= NEARLY_FULL_PERCENT ? 'high' : 'low';
  const filled = Math.min(percent, 100);
  return (
    // biome-ignore lint/a11y/useSemanticElements: The look of a native meter cannot follow the theme in every browser.
    <div
      className="meter"
      role="meter"
      aria-labelledby={labelId}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={filled}
      aria-valuetext={`${percentText}, ${text}`}
    >
      <div className="meter-head">
        <span id={labelId} className="meter-label">
          {label}
        </span>
        <span className="meter-percent">{percentText}</span>
      </div>
      <div className="meter-track">
        <div className={`meter-bar meter-${level}`} style={{ width: `${filled}%` }} />
      </div>
      <p className="meter-text">
        <span title={exact === text ? undefined : exact}>{text}</span>
        <span className="hint">{note}</span>
      </p>
    </div>
  );
};
