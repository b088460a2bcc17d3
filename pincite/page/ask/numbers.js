// Source numbers as shown: 1, 2, 3 … in the order in which the answer cites them, then the passages that it does not cite.

/** The answer with its sources and citations numbered anew. */
export function renumbered(answer) {
  const cited = [...answer.citations].sort((a, b) => a.start - b.start).map((one) => one.source);
  const order = [...new Set([...cited.filter((one) => one !== null), ...answer.sources.map((one) => one.number)])];
  const numbers = new Map(order.filter((one) => answer.sources.some((source) => source.number === one)).map((one, place) => [one, place + 1]));
  const known = (number) => numbers.get(number) ?? number;
  return {
    ...answer,
    citations: answer.citations.map((one) => ({ ...one, source: known(one.source) })),
    sources: answer.sources.map((one) => ({ ...one, number: known(one.number) })).sort((a, b) => a.number - b.number),
  };
}

/** Number the marks of an unfinished answer in the order of their appearance. */
export function numberMarks(marks) {
  const numbers = new Map();
  for (const mark of marks) {
    if (!numbers.has(mark.dataset.number)) numbers.set(mark.dataset.number, numbers.size + 1);
    mark.textContent = numbers.get(mark.dataset.number);
  }
}
