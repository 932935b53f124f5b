#include "cli/help_texts.hpp"

namespace fewbit::solver {

const char* const kFormsText =
    R"(Training keeps, for the backward pass, a code of a few bits for each input x of an
activation f; a table q gives the derivative back: q(x) in the place of f'(x).

--form, the kind of table
  levels       k levels on as many intervals as they need: every x takes the level
               nearest to f'(x). The default; never worse than the others.
  intervals    k levels on k intervals: the problem of the paper Few-Bit Backward.
  unbiased     k levels over the range of f'; x takes one of the two levels around
               f'(x) at random, with expectation f'(x). No thresholds, more noise.

--objective, what is made small
  squared      the integral of w(x) (f'(x) - q(x))^2 over the domain. The default;
               proven: no table of this form and size has less.
  smoothed     the smoothed bias (see: fewbit-solve help results), and lambda times
               the squared error; form levels only. Training follows this figure. A
               local optimum; what is proven is how far its squared error is from the
               least one. tau is the spread of the inputs of a single unit, as a share
               of the spread of all inputs (0.83); lambda is 1e-3. With 2-D samples
               each unit brings its own spread, and tau is refused.

--dtype        exact keeps thresholds in double precision; fp32, bf16 and fp16 move
               each to a value of that type, so that inputs of the type get the codes
               that the file says. Error and bound are those of the moved thresholds.

Examples:
  fewbit-solve --fn gelu --bits 3 --form intervals
  fewbit-solve --fn gelu --bits 2 --weight normal:0,1 --objective smoothed
)";

const char* const kWeightsText =
    R"(The weight w(x) says how often each input x is expected; errors count by it.

  uniform                  density 1 on the domain. The default.
  normal:MEAN,SIGMA        a normal distribution; normal alone is normal:0,1.
  mixture:MIN,MAX          normal distributions around 0 of every sigma from MIN to
                           MAX, their logarithms evenly spread; for one table that
                           serves many layers. mixture alone is mixture:0.0625,4.
  laplace:MEAN,SCALE       sharper at the mean, with longer tails: exp(-|x - MEAN| / SCALE).
  student-t:MEAN,SCALE,DEGREES   tails that fall like a power; 1 degree is Cauchy's.
  histogram:FILE           counts of your own, one bin a line.
  samples:FILE             inputs of your own; the table is fitted to them: exactly
                           where at most 1024 values differ, else to a histogram. The
                           error on the samples is printed first, and what the default
                           table does on the same inputs too. Once more for each
                           further file; FILE.npz:KEY; - is standard input.

--clip 0.999 counts samples beyond that quantile as the quantile, on both sides.
--sample-format says what a file's name does not: npy, npy:bf16, csv, raw, raw:f16,
raw:bf16, raw:f64.

--domain LO,HI bounds the integral: -10,10, and for data the range of the data. Ends
may be inf where the weight can be integrated (any but uniform).

Samples of two dimensions are samples x units: a row is one sample, a column one unit
of the layer. Each unit's mean and spread then serve the smoothed bias.

Examples:
  fewbit-solve --fn gelu --bits 3 --weight normal:0,1
  fewbit-solve --fn gelu --bits 3 --weight samples:inputs.npy
)";

const char* const kResultsText =
    R"(What is printed, with the key of the JSON where it has another name:

squared error     The integral of w (f' - q)^2 over the domain, the error of the very
(error)           table that is printed. With the form unbiased: the expected error.
on the samples    Data only: the error's mean over the very samples. Where they are a
                  histogram, "squared error" is the one on the histogram.
rms               The root of the error's mean over the weight: the typical size of
                  q - f', in units of f'.
lower bound       Proven: no table of this form and size has a smaller error. For
                  smoothed tables the bound of the form levels ("squared optimum").
relative gap      (error - lower bound) / error: how much better any other table could
                  be. Below 1e-9 the table is the best one for all purposes; "exact"
                  means an error of 0.
price             Smoothed tables: how far the error is above the squared optimum.
smoothed bias     A unit of a layer sees its inputs scattered around a mean of its
                  own, with spread tau. What is left of q - f' after averaging over
                  that scatter does not cancel in training. This is its root mean
                  square over all units. Data with units: their means and spreads;
                  normal and mixture: tau times the spread of all inputs; uniform:
                  the figure for normal:0,1.
uniform table     Data only: the error on the same data of the table for no
                  particular data.
thresholds        The borders between intervals; interval i is open at its left end
                  and closed at its right one. "on |x|" (symmetry "even"): f' is even,
                  and thresholds cut |x|.
codes             The level of each interval; what is kept for backward.
levels            The values of q, ascending. Bits of a code: 2^bits >= levels.
residual          JSON only: the largest violation of the conditions of an optimum
                  (each level the mean of f' on its set, f' at each threshold the mean
                  of the two levels), over the range of f'. Rounding, where all is
                  well. Smoothed tables: how far Newton's method would still move a
                  threshold.
units             JSON only: mean, spread and share of each unit, where samples have
                  two dimensions.
size              JSON only: the levels asked for; fewer may be all that f' needs.

`fewbit-solve verify FILE` proves error and bound again with code of its own.
)";

const char* const kFilesText = R"(Written
  -o FILE        The table as JSON, for verify, show and emit. Keys have a fixed order
                 and numbers their shortest decimals, so that equal tables are equal
                 files. Without --json one line says what was written.
  --svg FILE     A picture of the table.
  --json         JSON on standard output; with -o it goes to that file alone.
  -              As FILE: standard output, which then holds nothing else.
  {bits} and {levels} in a FILE stand for the size asked for. Several tables in one
  call (--bits 1-4, --levels 3,5) need one of them; on standard output they are one
  JSON array, also where the list has one entry.
  A file is replaced as a whole or not at all, also when the program is killed. Its
  folder must exist; that it can be written is checked before the work begins.

Read
  histogram:FILE   CSV: left end, right end and count of a bin in each line.
  samples:FILE     .npy and .npz:KEY (float16, bfloat16, float32 or float64, any shape and
                   byte order), .csv or text (numbers between commas, blanks or line
                   ends), .f32 or .raw (little-endian float32 and nothing else). By the
                   ending of the name, or as --sample-format says.
  Lines of CSV that begin with # and a first line of headings are skipped.

Examples:
  fewbit-solve --fn gelu --bits 1-4 -o 'gelu_{bits}.json' --svg 'gelu_{bits}.svg'
  fewbit-solve --fn gelu --bits 1-4 --json | jq '.[].error'
  fewbit-solve --fn gelu --bits 3 --svg - > gelu.svg
)";

const char* const kExitCodesText =
    R"(0   All went well. verify: every table holds. tables --check: every file is current.
1   A file cannot be read or written, or holds something else than it should; the
    problem has no answer (a derivative that is constant, a weight without mass);
    verify: a table fails; tables --check: a file is not current.
2   The command line is wrong: an unknown option, a value that is not accepted.

An error is one line on standard error, "fewbit-solve: error: ...", that names what was
seen and what is accepted (an expression is shown with a caret below the place).

Where the reader of standard output goes away (| head) the rest is dropped in silence;
the work goes on, files are written, and the exit code is that of the work.
--quiet leaves out progress and notes, never errors.
)";

}  // namespace fewbit::solver
