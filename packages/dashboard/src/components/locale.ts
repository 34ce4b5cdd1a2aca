/** The language of every word on the screen, so also of the words in dates and numbers. */
export const LOCALE = 'en';
