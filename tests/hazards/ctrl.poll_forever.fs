poll CTRL value=1
done
