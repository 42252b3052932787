import { Fragment, type ReactElement, type ReactNode } from 'react';

/** One column of a table. */
export interface Column<T> {
  readonly title: string;
  /** Tells columns with the same title apart; the title if omitted. */
  readonly id?: string;
  readonly render: (row: T) => ReactNode;
  /** True if it names its row for screen readers. */
  readonly isHeader?: boolean;
  /** True for names that people chose: a long word breaks and does not widen the table. */
  readonly isName?: boolean;
  /** The same for its title. */
  readonly hasNameAsTitle?: boolean;
  readonly isNumber?: boolean;
  /** True for buttons: only screen readers get the title. */
  readonly isAction?: boolean;
}

/** Renders a table. On narrow screens, each row becomes a block of names and values. */
export const Table = <T,>({
  label,
  rows,
  keyOf,
  columns,
  detailsOf,
}: {
  label: string;
  rows: readonly T[];
  keyOf: (row: T) => string;
  columns: readonly Column<T>[];
  /** Returns a second row below the first. */
  detailsOf?: (row: T) => ReactNode;
}): ReactElement => (
  <div className="table-frame">
    <table className="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ title, id = title, hasNameAsTitle, isNumber, isAction }) => (
            <th key={id} scope="col" className={isNumber === true ? 'number' : undefined}>
              {isAction === true || hasNameAsTitle === true ? (
                <span className={isAction === true ? 'visually-hidden' : 'table-name'}>{title}</span>
              ) : (
                title
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const details = detailsOf?.(row);
          return (
            <Fragment key={keyOf(row)}>
              <tr>
                {columns.map((column) => (
                  <Cell key={column.id ?? column.title} column={column} row={row} />
                ))}
              </tr>
              {details !== undefined && details !== false && details !== null && (
                <tr className="table-details">
                  <td colSpan={columns.length}>{details}</td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  </div>
);

const Cell = <T,>({ column, row }: { column: Column<T>; row: T }): ReactElement => {
  const { title, render, isHeader, isName, isNumber, isAction } = column;
  const className = [isNumber === true && 'number', isAction === true && 'table-action'].filter(Boolean).join(' ');
  const content = (
    <>
      {isAction !== true && (
        <span className="table-label" aria-hidden="true">
          {title}
        </span>
      )}
      <span className={isName === true ? 'table-value table-name' : 'table-value'}>{render(row)}</span>
    </>
  );
  return isHeader === true ? (
    <th scope="row" className={className}>
      {content}
    </th>
  ) : (
    <td className={className}>{content}</td>
  );
};
