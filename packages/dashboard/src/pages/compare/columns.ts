/** The columns of the table of differences; on a narrow screen a row is a small block instead. */
export const COLUMNS = 'sm:grid-cols-[2rem_minmax(9rem,1.2fr)_minmax(7rem,1fr)_minmax(7rem,1fr)_7rem]';
