# Free bytes that do not serve, by cause: gnuplot -c unusable.gp DIR OUTPUT TITLE CARD_BYTES PHASES LAST_EVENT
#
# Each row of the table is about one request; the areas stand on each other.
DIR = ARG1; OUTPUT = ARG2; TITLE = ARG3
last = real(ARG6)
load DIR."/style.gp"
data = DIR."/unusable.csv"
pinned(n) = column("pinned_bytes")
split(n) = pinned(0) + column("split_limit_bytes")
pool(n) = split(0) + column("pool_bytes")
stream(n) = pool(0) + column("stream_bytes")
all(n) = stream(0) + column("pending_bytes")
stats data using (all(0)) name "A" nooutput
stats data using (column("largest_usable_bytes")) name "L" nooutput
stats data using (strcol("refused") eq "true") name "O" nooutput
most = A_max > L_max ? A_max : L_max
top = most > 0 ? 1.1 * most : 1
U = scale(top)
set ylabel unit(top)." free" textcolor "#333333"
set xrange [0:last > 0 ? last : 1]
set yrange [0:top / U]
event(n) = column("event")
OOMS = O_sum > 0 ? ", data using (strcol('refused') eq 'true' ? event(0) : NaN):(all(0) / U) with points pointtype 2 pointsize 1.5 linewidth 2.5 linecolor rgb ALARM title 'out of memory'" : ""

plot data using (event(0)):(all(0) / U) with fillsteps linecolor rgb PENDING title "pending", \
     data using (event(0)):(stream(0) / U) with fillsteps linecolor rgb STREAM title "other stream", \
     data using (event(0)):(pool(0) / U) with fillsteps linecolor rgb POOL title "other pool", \
     data using (event(0)):(split(0) / U) with fillsteps linecolor rgb SPLIT title "split limit", \
     data using (event(0)):(pinned(0) / U) with fillsteps linecolor rgb PINNED title "pinned", \
     data using (event(0)):(column("largest_usable_bytes") / U) with steps linewidth 1.5 linecolor rgb CARD title "largest piece" \
     @OOMS
